// SPDX-License-Identifier: Apache-2.0
#include "cli/process/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(10);

absl::Status CannotStart(const std::string& program, int error) {
  return MakeError(
      ErrorId::kTrainerStart, absl::StrCat(program, ": ", std::strerror(error)),
      "build or install all of Frostline's programs in one folder", "");
}

std::vector<char*> PointersOf(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Everything between fork and exec; only what is safe after a fork. An error
// number goes through `report`, which a successful exec closes.
[[noreturn]] void BecomeChild(char* const* arguments, int log, int report,
                              pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);  // it died before prctl
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  const int input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv(arguments[0], arguments);
  const int error = errno;
  const ssize_t written = write(report, &error, sizeof(error));
  _exit(written == sizeof(error) ? 127 : 126);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const ChildSpec& spec) {
  std::vector<std::string> arguments = spec.arguments;
  const std::vector<char*> pointers = PointersOf(arguments);
  const int log = open(spec.log_file.c_str(),
                       O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return CannotStart(spec.log_file, errno);
  int report[2] = {-1, -1};
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int error = errno;
    close(log);
    return CannotStart(spec.name, error);
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeChild(pointers.data(), log, report[1], parent);
  int error = pid < 0 ? errno : 0;
  close(log);
  close(report[1]);
  // Ends at once: with an error, or because exec closed the other end.
  if (pid > 0 && read(report[0], &error, sizeof(error)) > 0) {
    waitpid(pid, nullptr, 0);
  }
  close(report[0]);
  if (error != 0) return CannotStart(spec.arguments[0], error);
  return std::unique_ptr<ChildProcess>(new ChildProcess(spec, pid));
}

ChildProcess::~ChildProcess() { Stop(Duration::zero()); }

bool ChildProcess::IsRunning() {
  if (wait_status_.has_value()) return false;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == 0) return true;
  wait_status_ = ended == pid_ ? status : 0;
  return false;
}

std::string ChildProcess::HowItEnded() const {
  const int status = wait_status_.value_or(0);
  if (WIFSIGNALED(status)) {
    return absl::StrCat("was ended by signal ", WTERMSIG(status), " (",
                        strsignal(WTERMSIG(status)), ")");
  }
  return absl::StrCat("ended with code ", WEXITSTATUS(status));
}

void ChildProcess::Signal(int number) {
  if (IsRunning()) kill(pid_, number);
}

bool ChildProcess::WaitFor(Duration longest) {
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + longest;
  while (IsRunning()) {
    if (clock.Steady() >= end) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

void ChildProcess::Stop(Duration grace) {
  Signal(SIGTERM);
  if (WaitFor(grace)) return;
  Signal(SIGKILL);
  while (IsRunning()) std::this_thread::sleep_for(kPollInterval);
}

absl::StatusOr<std::string> SiblingProgram(const std::string& name) {
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return CannotStart(name, error.value());
  const std::string path = (self.parent_path() / name).string();
  if (access(path.c_str(), X_OK) != 0) return CannotStart(path, errno);
  return path;
}

absl::Status ExecSibling(const std::string& name,
                         const std::vector<std::string>& arguments) {
  ASSIGN_OR_RETURN(const std::string path, SiblingProgram(name));
  std::vector<std::string> all = {path};
  all.insert(all.end(), arguments.begin(), arguments.end());
  execv(path.c_str(), PointersOf(all).data());
  return CannotStart(path, errno);
}

}  // namespace frostline::cli
