// SPDX-License-Identifier: Apache-2.0
#include "server/notify/deliver.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/descriptor.h"
#include "base/plain/text.h"
#include "base/plain/yaml.h"
#include "base/process.h"
#include "proto/rules.h"
#include "proto/wire_error.h"
#include "server/wire/limits.h"
#include "tls/private_file.h"

namespace frostline::server {
namespace {

constexpr char kFlag[] = "--notify-file";
// The word of `study update ID --notify none`.
constexpr char kNobody[] = "none";

absl::Status BadFile(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, cause, fix, kFlag);
}

// Removes quoted values: one may be a URL with its token.
std::string WithoutQuotes(const std::string& cause) {
  return cause.substr(0, cause.find(": '"));
}

bool IsProgram(const std::string& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

bool HasCurl() {
  const char* const path = std::getenv("PATH");
  const std::vector<std::string> folders =
      absl::StrSplit(path == nullptr ? "/usr/bin:/bin" : path, ':');
  return std::ranges::any_of(folders, [](const std::string& folder) {
    return IsProgram(absl::StrCat(folder, "/curl"));
  });
}

// Says whether this is a URL. It refuses what could end a line or a quote of
// curl's own file.
bool IsUrl(const std::string& url) {
  const bool known =
      absl::StartsWith(url, "https://") || absl::StartsWith(url, "http://");
  return known && std::ranges::all_of(url, [](char c) {
           return c > ' ' && c < '\x7f' && c != '"' && c != '\\';
         });
}

absl::StatusOr<Destination> DestinationOf(const YamlEntry& entry,
                                          const std::string& path) {
  const std::string at =
      absl::StrCat(path, " line ", entry.key_mark.line, ": ");
  if (!CheckId(entry.key, kFlag).ok()) {
    return BadFile(absl::StrCat(at, Shown(entry.key), " is no id"),
                   "use up to 64 of a-z, 0-9, '.', '_', '-'");
  }
  if (entry.key == kNobody) {
    return BadFile(absl::StrCat(at, "none is what takes the others away"),
                   "give it another id, as mail or chat");
  }
  YamlFields fields(*entry.value, path, entry.key);
  Destination destination;
  destination.program = fields.Text("command").value_or("");
  destination.url = SecretString(fields.Text("webhook").value_or(""));
  fields.KnowOnly({"command", "webhook"});
  if (fields.fault()) {
    return BadFile(fields.fault()->cause, fields.fault()->fix);
  }
  if (destination.program.empty() == destination.url.empty()) {
    return BadFile(absl::StrCat(at, entry.key, " has to have one of two"),
                   "write command: /PATH/OF/A/PROGRAM or webhook: https://…");
  }
  if (!destination.url.empty() && !IsUrl(destination.url.Reveal())) {
    return BadFile(absl::StrCat(at, "the webhook of ", entry.key,
                                " is no URL of http or https"),
                   "write webhook: https://HOST/PATH, other characters as %XX");
  }
  if (!destination.program.empty() &&
      (destination.program.front() != '/' || !IsProgram(destination.program))) {
    return BadFile(
        absl::StrCat(at, destination.program, " is no program's full path"),
        "write the path from / of a file that the coordinator may run");
  }
  return destination;
}

}  // namespace

absl::StatusOr<Destinations> ParseDestinations(const std::string& text,
                                               const std::string& path) {
  const Expected<YamlNode> tree = ParseYamlSubset(text, path);
  if (!tree.ok()) {
    return BadFile(WithoutQuotes(tree.fault().cause), tree.fault().fix);
  }
  if (tree.value().kind != YamlNode::Kind::kMap) {
    return BadFile(absl::StrCat(path, " names nobody"),
                   "write ID: and below it, indented, command: /PATH/OF/A/"
                   "PROGRAM or webhook: https://…");
  }
  Destinations destinations;
  for (const YamlEntry& entry : tree.value().entries) {
    ASSIGN_OR_RETURN(Destination destination, DestinationOf(entry, path));
    destinations.emplace(entry.key, std::move(destination));
  }
  return destinations;
}

absl::StatusOr<Destinations> ReadDestinations(const std::string& path) {
  ASSIGN_OR_RETURN(const SecretString text, tls::ReadPrivateFile(path, kFlag));
  ASSIGN_OR_RETURN(Destinations destinations,
                   ParseDestinations(text.Reveal(), path));
  const bool has_webhook = std::ranges::any_of(
      destinations,
      [](const auto& named) { return !named.second.url.empty(); });
  if (has_webhook && !HasCurl()) {
    return BadFile(absl::StrCat(path, " has a webhook, and curl is not there"),
                   "install curl, or have its folder in the PATH");
  }
  return destinations;
}

absl::Status CheckRegistered(
    const google::protobuf::RepeatedPtrField<std::string>& ids,
    const Destinations& destinations) {
  constexpr char kField[] = "settings.notify";
  RETURN_IF_ERROR(proto::CheckCount(ids.size(), kMaxNotify, kField));
  for (const std::string& id : ids) {
    if (destinations.contains(id)) continue;
    const std::string there = absl::StrJoin(
        destinations, ", ",
        [](std::string* out, const auto& named) { *out += named.first; });
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("this coordinator has no notification ", Shown(id)),
        there.empty()
            ? "leave notify out: the operator has registered none "
              "(frostline-coordinator --notify-file)"
            : absl::StrCat("use one of those that there are: ", there),
        kField);
  }
  return absl::OkStatus();
}

namespace {

constexpr int kLook = 20;  // milliseconds between two looks at the program
constexpr std::size_t kKeptOutput = 4096;
constexpr std::size_t kMostLine = 200;
// The variables that a program needs to find others and to reach the network;
// it gets nothing else of the coordinator's environment.
constexpr std::array kInherited = {
    "PATH",     "HOME",       "LANG",       "TZ",          "NO_PROXY",
    "no_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"};

absl::Status Failed(const char* what, int error) {
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(error)));
}

// Writes the text to a file without a name, which is never full and never
// blocks, as a pipe would.
absl::Status WriteInput(const std::string& text, int fd) {
  if (!WriteAll(fd, text) || lseek(fd, 0, SEEK_SET) != 0) {
    return Failed("its input", errno);
  }
  return absl::OkStatus();
}

std::vector<std::string> EnvironmentOf(const Program& program) {
  std::vector<std::string> variables = program.variables;
  for (const char* const name : kInherited) {
    const char* const value = std::getenv(name);
    if (value != nullptr) variables.push_back(absl::StrCat(name, "=", value));
  }
  return variables;
}

// Reads a piece of output and keeps only its end: a program may write any
// amount.
bool ReadSome(int fd, std::string* kept) {
  std::array<char, 4096> buffer;
  const ssize_t size = read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  kept->append(buffer.data(), static_cast<std::size_t>(size));
  if (kept->size() > kKeptOutput) kept->erase(0, kept->size() - kKeptOutput);
  return size > 0;
}

// Reads what an ended program has left: as much as a pipe holds.
void ReadRest(int fd, std::string* kept) {
  constexpr int kPieces = 16;  // of 64 KiB
  for (int i = 0; i < kPieces && ReadSome(fd, kept); ++i) {
  }
}

std::string LastLine(const std::string& output) {
  std::string last;
  for (const auto line : absl::StrSplit(output, '\n', absl::SkipWhitespace())) {
    last = std::string(line);
  }
  return proto::CleanText(last, kMostLine);
}

void KillGroup(pid_t leader) {
  kill(-leader, SIGKILL);
  WaitForEnd(leader);
}

// Waits for the program. The end of its pipe says nothing, since programs that
// it left running may hold the pipe.
absl::StatusOr<Ran> WaitFor(pid_t pid, int out, Duration limit,
                            const StopSign& stop) {
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + limit;
  pollfd output{out, POLLIN, 0};
  std::string kept;
  while (true) {
    output.revents = 0;
    if (poll(&output, 1, kLook) > 0 && !ReadSome(out, &kept)) output.fd = -1;
    int wait_status = 0;
    if (waitpid(pid, &wait_status, WNOHANG) == pid) {
      if (output.fd >= 0) ReadRest(out, &kept);
      return Ran{ShellCodeOf(wait_status), LastLine(kept)};
    }
    if (clock.Steady() >= end) {
      KillGroup(pid);
      return absl::DeadlineExceededError("it took too long, and was killed");
    }
    if (!stop.Check().ok()) {
      KillGroup(pid);
      return absl::CancelledError("the coordinator stops");
    }
  }
}

}  // namespace

absl::StatusOr<Ran> RunProgram(const Program& program, const StopSign& stop) {
  Descriptor in(memfd_create("notification", MFD_CLOEXEC));
  if (!in.ok()) return Failed("its input", errno);
  RETURN_IF_ERROR(WriteInput(program.input, in.number()));
  Pipe out;
  if (!out.ok()) return Failed("its output", errno);
  fcntl(out.read.number(), F_SETFL, O_NONBLOCK);
  const pid_t pid = StartProcess({.words = program.words,
                                  .variables = EnvironmentOf(program),
                                  .in = in.number(),
                                  .out = out.write.number(),
                                  .err = out.write.number(),
                                  .leads_group = true});
  if (pid < 0) return Failed("it cannot be started", errno);
  in.Close();
  out.write.Close();
  return WaitFor(pid, out.read.number(), program.limit, stop);
}

namespace {

using storage::NotificationRow;

// curl limits its own time; this ends a curl that does not.
constexpr Duration kCurlMore = std::chrono::seconds(2);

absl::Status RunCommand(const std::string& program,
                        const NotificationRow& notification,
                        const StopSign& stop, Duration limit) {
  ASSIGN_OR_RETURN(
      const Ran ran,
      RunProgram(
          {.words = {program},
           .variables = {"FROSTLINE_EVENT=study_ended",
                         absl::StrCat("FROSTLINE_STUDY=", notification.study),
                         absl::StrCat("FROSTLINE_DELIVERY=", notification.id)},
           .input = notification.body,
           .limit = limit},
          stop));
  if (ran.code == 0) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat(
      "it exited with code ", ran.code,
      ran.last_line.empty() ? "" : absl::StrCat(": ", ran.last_line)));
}

// Posts with curl. Its messages may show the URL, so they are not passed on.
absl::Status Post(const std::string& url, const NotificationRow& notification,
                  const StopSign& stop, Duration limit) {
  ASSIGN_OR_RETURN(const Ran ran,
                   RunProgram({.words = {"curl", "--disable", "--config", "-"},
                               .variables = {},
                               .input = CurlConfig(url, notification, limit),
                               .limit = limit + kCurlMore},
                              stop));
  if (ran.code != 0) {
    return absl::UnknownError(
        absl::StrCat("no answer: curl exited with code ", ran.code));
  }
  const bool is_taken =
      ran.last_line.size() == 3 && absl::StartsWith(ran.last_line, "2");
  if (is_taken) return absl::OkStatus();
  return absl::UnknownError(absl::StrCat("HTTP status ", ran.last_line));
}

std::string Quoted(const std::string& text) {
  return absl::StrCat(
      "\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

}  // namespace

// Redirects are not followed: the operator named this URL, not another.
std::string CurlConfig(const std::string& url,
                       const NotificationRow& notification, Duration limit) {
  const std::int64_t seconds =
      std::max<std::int64_t>(1, limit / std::chrono::seconds(1));
  return absl::StrCat("silent\ngloboff\noutput = \"/dev/null\"\n",
                      "write-out = \"%{http_code}\"\nproto = \"=http,https\"\n",
                      "max-time = ", seconds, "\nuser-agent = \"frostline\"\n",
                      "header = \"Content-Type: application/json\"\n",
                      "header = \"Frostline-Delivery: ", notification.id,
                      "\"\n", "url = ", Quoted(url),
                      "\ndata-raw = ", Quoted(notification.body), "\n");
}

absl::Status Deliver(const Destination& destination,
                     const NotificationRow& notification, const StopSign& stop,
                     Duration limit) {
  return destination.url.empty()
             ? RunCommand(destination.program, notification, stop, limit)
             : Post(destination.url.Reveal(), notification, stop, limit);
}

}  // namespace frostline::server
