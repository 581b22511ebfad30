// SPDX-License-Identifier: Apache-2.0
#include "cli/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/process.h"
#include "cli/term/text_file.h"

namespace frostline::cli {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

absl::Status StopSignals::Pause(Duration time) {
  timespec wait{};
  wait.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
  wait.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
  if (!caught_ && held_) {
    caught_ = sigtimedwait(&signals_, nullptr, &wait) > 0;
  }
  return caught_ ? absl::CancelledError("interrupted") : absl::OkStatus();
}

void StopSignals::Release() {
  if (held_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  held_ = false;
}

namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(10);

absl::Status CannotStart(const std::string& program, int error) {
  return MakeError(
      ErrorId::kTrainerStart, absl::StrCat(program, ": ", std::strerror(error)),
      "build or install all of Frostline's programs in one folder", "");
}

// Does everything between fork and exec, with only what is safe after a fork.
// On failure it writes the error number to `report`, which a successful exec
// closes.
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
  const std::vector<char*> pointers = PointersTo(arguments);
  const Descriptor log(open(spec.log_file.c_str(),
                            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log.ok()) return CannotStart(spec.log_file, errno);
  Pipe report;
  if (!report.ok()) return CannotStart(spec.name, errno);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    BecomeChild(pointers.data(), log.number(), report.write.number(), parent);
  }
  int error = pid < 0 ? errno : 0;
  report.write.Close();
  // Ends at once: with an error, or because exec closed the other end.
  if (pid > 0 && read(report.read.number(), &error, sizeof(error)) > 0) {
    WaitForEnd(pid);
  }
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
  std::string path = (self.parent_path() / name).string();
  if (access(path.c_str(), X_OK) != 0) return CannotStart(path, errno);
  return path;
}

absl::Status ExecSibling(const std::string& name,
                         const std::vector<std::string>& arguments) {
  ASSIGN_OR_RETURN(const std::string path, SiblingProgram(name));
  std::vector<std::string> all = {path};
  all.insert(all.end(), arguments.begin(), arguments.end());
  execv(path.c_str(), PointersTo(all).data());
  return CannotStart(path, errno);
}

namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 20;
constexpr int kLook = 100;  // milliseconds between two looks at the clock

// Reads some output. Returns false at the end.
bool ReadSome(int fd, std::string* text) {
  std::array<char, 65536> buffer;
  const ssize_t size = read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  text->append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

bool HasSaid(const Captured& captured, const std::string& words) {
  return !words.empty() && absl::StrContains(captured.err, words);
}

absl::Status ReadAll(const Pipe& out, const Pipe& err, SteadyTime end,
                     const std::string& last_words, Captured* captured) {
  const SystemClock clock;
  std::array<pollfd, 2> open = {
      {{out.read.number(), POLLIN, 0}, {err.read.number(), POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&captured->out, &captured->err};
  while ((open[0].fd >= 0 || open[1].fd >= 0) &&
         !HasSaid(*captured, last_words)) {
    const SteadyTime now = clock.Steady();
    if (now >= end) return absl::DeadlineExceededError("it has not ended");
    if (poll(open.data(), open.size(), kLook) < 0) continue;
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd < 0 || open[i].revents == 0) continue;
      if (!ReadSome(open[i].fd, texts[i])) open[i].fd = -1;
      if (texts[i]->size() > kMostOutput) {
        return absl::ResourceExhaustedError("it says too much");
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Captured> RunCaptured(const std::vector<std::string>& words,
                                     Duration longest,
                                     const std::string& last_words) {
  const SteadyTime end = SystemClock().Steady() + longest;
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe out, err;
  if (!nothing.ok() || !out.ok() || !err.ok()) {
    return absl::InternalError(std::strerror(errno));
  }
  const pid_t pid = StartProcess({.words = words,
                                  .in = nothing.number(),
                                  .out = out.write.number(),
                                  .err = err.write.number()});
  if (pid < 0) {
    const auto code = errno == ENOENT ? absl::StatusCode::kNotFound
                                      : absl::StatusCode::kInternal;
    return absl::Status(code,
                        absl::StrCat(words[0], ": ", std::strerror(errno)));
  }
  out.write.Close();
  err.write.Close();
  Captured captured;
  const absl::Status read = ReadAll(out, err, end, last_words, &captured);
  if (!read.ok() || HasSaid(captured, last_words)) kill(pid, SIGKILL);
  const int wait_status = WaitForEnd(pid);
  if (!read.ok()) {
    return absl::Status(read.code(),
                        absl::StrCat(words[0], ": ", read.message()));
  }
  captured.code = ShellCodeOf(wait_status);
  return captured;
}

namespace {

absl::Status CannotMake(const std::string& path, const std::string& why) {
  return MakeError(ErrorId::kStoreUnwritable, absl::StrCat(path, ": ", why),
                   "name a folder you may write to with --dir DIR, or in "
                   "$TMPDIR");
}

}  // namespace

absl::StatusOr<WorkFolder> WorkFolder::Make(const std::string& named,
                                            bool keep) {
  std::error_code error;
  if (!named.empty()) {
    std::filesystem::create_directories(named, error);
    if (error) return CannotMake(named, error.message());
    return WorkFolder(named, true);
  }
  const auto parent = std::filesystem::temp_directory_path(error);
  if (error) return CannotMake("the temporary folder", error.message());
  std::string pattern = (parent / "frostline-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    return CannotMake(pattern, std::strerror(errno));
  }
  return WorkFolder(pattern, keep);
}

WorkFolder::~WorkFolder() {
  if (path_.empty() || stays_) return;
  std::error_code ignored;  // what is left is only a temporary file
  std::filesystem::remove_all(path_, ignored);
}

namespace {

constexpr Duration kStartBound = std::chrono::seconds(20);
constexpr Duration kStopGrace = std::chrono::seconds(10);
constexpr Duration kFleetPollInterval = std::chrono::milliseconds(20);
constexpr int kLogLines = 10;
constexpr std::size_t kFirstOutput = 16 * 1024;

std::string LogOf(const std::string& folder, const std::string& name) {
  return absl::StrCat(folder, "/", absl::StrReplaceAll(name, {{" ", "-"}}),
                      ".log");
}

// Quotes a path as one word for --exec, which splits words like a shell.
std::string Quote(const std::string& path) {
  return absl::StrCat("'", absl::StrReplaceAll(path, {{"'", "'\\''"}}), "'");
}

absl::Status Ended(const ChildProcess& child) {
  return MakeError(ErrorId::kTrainerExited,
                   absl::StrCat("the ", child.spec().name, " ",
                                child.HowItEnded(), "; its last words:\n",
                                LastLines(child.spec().log_file, kLogLines)),
                   "read its log, mend what it says, and start it again");
}

}  // namespace

namespace {

std::string RestOfLine(const std::string& output, const std::string& words) {
  const std::size_t found = output.find(words);
  if (found == std::string::npos) return "";
  const std::size_t start = found + words.size();
  const std::size_t end = output.find('\n', start);
  return end == std::string::npos ? "" : output.substr(start, end - start);
}

}  // namespace

std::string ListenAddressIn(const std::string& output) {
  return RestOfLine(output, "listening on ");
}

std::string PageAddressIn(const std::string& output) {
  return RestOfLine(output, "page on ");
}

absl::StatusOr<std::vector<std::string>> SyntheticTrainer() {
  ASSIGN_OR_RETURN(const std::string trainer,
                   SiblingProgram("frostline-demo-trainer"));
  return std::vector<std::string>{"--exec", Quote(trainer)};
}

absl::StatusOr<std::vector<std::string>> RealTrainer(
    const std::string& registry) {
  // The worker finds it by itself, and would say so in its log alone.
  RETURN_IF_ERROR(SiblingProgram("frostline-trainer").status());
  return std::vector<std::string>{"--registry", registry};
}

absl::Status LocalFleet::Start(const std::string& name,
                               const std::string& program,
                               const std::vector<std::string>& arguments) {
  ChildSpec spec;
  spec.name = name;
  spec.log_file = LogOf(folder_, name);
  ASSIGN_OR_RETURN(const std::string path, SiblingProgram(program));
  spec.arguments = {path};
  spec.arguments.insert(spec.arguments.end(), arguments.begin(),
                        arguments.end());
  ASSIGN_OR_RETURN(auto child, ChildProcess::Start(spec));
  children_.push_back(std::move(child));
  return absl::OkStatus();
}

absl::Status LocalFleet::StartCoordinator(StopSignals& signals) {
  const std::string log = LogOf(folder_, "coordinator");
  std::remove(log.c_str());  // an earlier run's address is not ours
  RETURN_IF_ERROR(Start("coordinator", "frostline-coordinator",
                        {"--data", folder_, "--listen", "127.0.0.1:0"}));
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + kStartBound;
  while (clock.Steady() < end) {
    RETURN_IF_ERROR(signals.Pause(kFleetPollInterval));
    RETURN_IF_ERROR(Check());
    ASSIGN_OR_RETURN(const std::string output, ReadTextFile(log, kFirstOutput));
    page_ = PageAddressIn(output);  // the later line
    address_ = ListenAddressIn(output);
    if (!address_.empty() && !page_.empty()) return absl::OkStatus();
  }
  return MakeError(ErrorId::kCoordinatorAway,
                   absl::StrCat("the coordinator did not listen within 20 s:\n",
                                LastLines(log, kLogLines)),
                   "read its log, mend what it says, and start it again");
}

absl::Status LocalFleet::StartWorkers(int count,
                                      const std::vector<std::string>& trainer) {
  // Each would take all cores for itself. What the user has set stays.
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int share = std::max(1, cores / std::max(1, count));
  setenv("OMP_NUM_THREADS", absl::StrCat(share).c_str(), /*overwrite=*/0);
  for (int i = 1; i <= count; ++i) {
    std::vector<std::string> arguments = {
        "--connect", address_,
        "--id",      absl::StrCat("local-", i),
        "--run-dir", absl::StrCat(folder_, "/runs-", i)};
    arguments.insert(arguments.end(), trainer.begin(), trainer.end());
    RETURN_IF_ERROR(
        Start(absl::StrCat("worker ", i), "frostline-worker", arguments));
  }
  return absl::OkStatus();
}

absl::Status LocalFleet::Check() {
  for (const auto& child : children_) {
    if (!child->IsRunning()) return Ended(*child);
  }
  return absl::OkStatus();
}

void LocalFleet::Stop() {
  for (std::size_t i = 1; i < children_.size(); ++i) {
    children_[i]->Signal(SIGTERM);  // all at once; each is waited for below
  }
  while (!children_.empty()) {
    children_.back()->Stop(kStopGrace);
    children_.pop_back();
  }
}

}  // namespace frostline::cli
