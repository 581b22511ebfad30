// SPDX-License-Identifier: Apache-2.0
//
// `frostline up` and `frostline down`: a coordinator of this user's own that
// runs in the background until it is stopped. It has the folder that
// frostline.local() of Python has, and the same files in it, so that either
// finds what the other has started (python/frostline/_local.py):
//
//   DIR/users    everybody who uses it holds a shared lock
//   DIR/start    held while one is started
//   DIR/address  where it listens, once it does
//   DIR/pid      of one that `up` has started
//   DIR/data/    its database      DIR/log   what it says
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/plain/descriptor.h"
#include "base/process.h"
#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

constexpr Duration kLongestStart = std::chrono::seconds(30);
constexpr Duration kLongestStop = std::chrono::seconds(30);
constexpr Duration kLook = std::chrono::milliseconds(20);
constexpr std::size_t kLongestSocket = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kMostBytes = 1 << 20;  // of a log that is looked into

struct OwnArgs {
  std::string folder;  // empty: the user's
};

std::string UsersFolder() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  const char* const home = std::getenv("HOME");
  const std::string shared =
      data != nullptr && *data != '\0'
          ? data
          : absl::StrCat(home == nullptr ? "." : home, "/.local/share");
  return shared + "/frostline/local";
}

absl::Status CannotUse(const std::string& folder, int error) {
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(folder, " cannot be used: ", std::strerror(error)),
      "name another folder with --dir", "--dir");
}

// Returns what a small file says, without space around it; empty if it is not
// there.
std::string Said(const std::string& path) {
  const auto text = ReadTextFile(path, kMostBytes);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

bool CoordinatorAnswers(const std::string& address) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  const std::string path(absl::StripPrefix(address, "unix:"));
  if (path == address || path.empty() || path.size() > kLongestSocket) {
    return false;
  }
  path.copy(to.sun_path, path.size());
  const Descriptor caller(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return caller.ok() &&
         connect(caller.number(), reinterpret_cast<const sockaddr*>(&to),
                 sizeof(to)) == 0;
}

std::string RunningAt(const std::string& folder) {
  const std::string address = Said(folder + "/address");
  return CoordinatorAnswers(address) ? address : "";
}

// Starts a coordinator and waits until it answers. Returns its address.
absl::StatusOr<std::string> StartOwn(const std::string& folder) {
  ASSIGN_OR_RETURN(const std::string program,
                   SiblingProgram("frostline-coordinator"));
  const std::string socket = folder + "/socket";
  if (socket.size() > kLongestSocket) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat(socket, " is too long for a socket"),
                     absl::StrCat("name a shorter folder with --dir; a socket "
                                  "has at most ",
                                  kLongestSocket, " bytes"),
                     "--dir");
  }
  std::error_code gone;
  std::filesystem::remove(folder + "/address", gone);
  const std::string log_file = folder + "/log";
  const Descriptor log(
      open(log_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!log.ok() || !nothing.ok()) return CannotUse(log_file, errno);
  const pid_t child = StartProcess(
      {.words = {program, "--data", folder + "/data", "--listen",
                 "unix:" + socket, "--ready-file", folder + "/address"},
       .in = nothing.number(),
       .out = log.number(),
       .err = log.number(),
       .leads_group = true});
  if (child < 0) return CannotUse(program, errno);
  std::ofstream(folder + "/pid") << child << "\n";
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + kLongestStart;
  while (clock.Steady() < end && waitpid(child, nullptr, WNOHANG) == 0) {
    if (std::string address = RunningAt(folder); !address.empty()) {
      return address;
    }
    std::this_thread::sleep_for(kLook);
  }
  const std::string said = Said(log_file);
  return MakeError(
      ErrorId::kCoordinatorAway,
      absl::StrCat("the coordinator in ", folder,
                   " did not start: ", said.substr(said.rfind('\n') + 1)),
      "see " + log_file);
}

absl::StatusOr<ExitCode> Up(Session&, const OwnArgs& args) {
  const std::string folder =
      std::filesystem::absolute(args.folder.empty() ? UsersFolder()
                                                    : args.folder)
          .lexically_normal();
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return CannotUse(folder, error.value());
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all,
                               error);
  // While a coordinator of Python's stops, its keeper has this one alone.
  const Descriptor users(
      open((folder + "/users").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const Descriptor start(
      open((folder + "/start").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!users.ok() || !start.ok() ||
      !TakeLock(users.number(), LockKind::kShared, LockWait::kAwait) ||
      !TakeLock(start.number(), LockKind::kAlone, LockWait::kAwait)) {
    return CannotUse(folder, errno);
  }
  std::string address = RunningAt(folder);
  const bool was_there = !address.empty();
  if (!was_there) {
    ASSIGN_OR_RETURN(address, StartOwn(folder));
  }
  std::cout << (was_there ? "a coordinator runs already"
                          : "the coordinator is up")
            << "; its studies are in " << folder << "/data\n"
            << "for commands and workers of this shell:\n  export "
               "FROSTLINE_CONNECT="
            << address << "\nin Python: frostline.local("
            << (args.folder.empty() ? "" : absl::StrCat("\"", folder, "\""))
            << "); `frostline down"
            << (args.folder.empty() ? "" : absl::StrCat(" --dir ", args.folder))
            << "` stops it\n";
  return kExitOk;
}

// Says whether the process is a coordinator, and not another that has its
// number now.
bool IsCoordinator(pid_t pid) {
  std::error_code error;
  const std::string program =
      std::filesystem::read_symlink(absl::StrCat("/proc/", pid, "/exe"), error);
  return !error && absl::StrContains(program, "/frostline-coordinator");
}

absl::StatusOr<ExitCode> Down(Session&, const OwnArgs& args) {
  const std::string folder = args.folder.empty() ? UsersFolder() : args.folder;
  pid_t pid = 0;
  if (!absl::SimpleAtoi(Said(folder + "/pid"), &pid) || pid <= 1 ||
      !IsCoordinator(pid)) {
    const bool runs = !RunningAt(folder).empty();
    return MakeError(ErrorId::kCoordinatorAway,
                     runs ? "frostline.local() of Python has started the one "
                            "that runs"
                          : absl::StrCat("none runs in ", folder),
                     runs ? "it stops with its last user"
                          : "nothing is to be done; `frostline up` starts one");
  }
  kill(pid, SIGTERM);
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + kLongestStop;
  while (IsCoordinator(pid)) {
    if (clock.Steady() > end) {
      return MakeError(ErrorId::kCoordinatorAway,
                       absl::StrCat("process ", pid, " does not stop"),
                       absl::StrCat("see ", folder, "/log"));
    }
    std::this_thread::sleep_for(kLook);
  }
  std::error_code gone;
  std::filesystem::remove(folder + "/pid", gone);
  std::filesystem::remove(folder + "/address", gone);
  std::cout << "the coordinator is down; its studies stay in " << folder
            << "/data\n";
  return kExitOk;
}

}  // namespace

void AddOwnCoordinatorCommands(CLI::App& app, Invocation& invocation) {
  const auto add = [&](const char* name, const char* help, auto run) {
    const auto [verb, args] = AddVerb(app, name, help, invocation, run);
    verb->add_option("--dir", args->folder,
                     "Its folder; that of this user, as frostline.local() of "
                     "Python has it")
        ->type_name("DIR");
  };
  add("up", "A coordinator of your own, in the background", Up);
  add("down", "Stop what `up` has started", Down);
}

}  // namespace frostline::cli
