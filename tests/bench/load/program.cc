// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/load/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"

namespace frostline::bench {
namespace {

constexpr Duration kLongestStart = std::chrono::minutes(1);

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

int CodeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

std::string BinaryPath(const std::string& name) {
  if (const char* const folder = std::getenv("FROSTLINE_BIN_DIR")) {
    return absl::StrCat(folder, "/", name);
  }
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path().parent_path() / "bin" / name).string();
}

double ResidentKibOf(pid_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::atof(line.c_str() + 6);
  }
  return 0.0;
}

Program::Program(std::vector<std::string> command,
                 std::vector<std::string> environment, std::string log)
    : command_(std::move(command)),
      environment_(std::move(environment)),
      log_(std::move(log)) {}

Program::~Program() { Kill(); }

void Program::Start() {
  std::vector<std::string> command = command_;
  std::vector<std::string> environment = environment_;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  const std::vector<char*> argv = Pointers(command);
  const std::vector<char*> envp = Pointers(environment);
  const int log =
      open(log_.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ != 0) {
    close(log);
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(127);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execve(argv[0], argv.data(), envp.data());
  _exit(127);
}

void Program::Signal(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

int Program::Wait() {
  if (pid_ <= 0) return 0;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = 0;
  return CodeOf(status);
}

bool Program::HasEnded(int* code) {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return false;
  pid_ = 0;
  *code = CodeOf(status);
  return true;
}

void Program::Kill() {
  Signal(SIGKILL);
  Wait();
}

std::string Program::Log() const {
  std::ostringstream text;
  text << std::ifstream(log_).rdbuf();
  return text.str();
}

CoordinatorProgram::CoordinatorProgram(CoordinatorSpec spec)
    : spec_(std::move(spec)) {}

void CoordinatorProgram::Spawn(const std::vector<std::string>& environment) {
  std::vector<std::string> command = {BinaryPath("frostline-coordinator"),
                                      "--data",
                                      spec_.data,
                                      "--listen",
                                      spec_.scheme + address_,
                                      "--log-level",
                                      "warning"};
  command.insert(command.end(), spec_.options.begin(), spec_.options.end());
  std::vector<std::string> all = environment;
  all.insert(all.end(), spec_.environment.begin(), spec_.environment.end());
  const std::string log =
      spec_.log.empty() ? absl::StrCat(spec_.data, ".log") : spec_.log;
  if (program_ != nullptr) program_->Kill();
  program_ = std::make_unique<Program>(command, all, log);
  log_before_ = program_->Log().size();
  spawned_ = SystemClock().Steady();
  program_->Start();
}

bool CoordinatorProgram::AwaitListening() {
  const std::string words = "listening on ";
  const SystemClock clock;
  while (clock.Steady() - spawned_ < kLongestStart) {
    const bool ended = program_->HasEnded(&ended_with_);
    const std::string log = program_->Log();
    const std::size_t at = log.find(words, log_before_);
    const std::size_t end = at == std::string::npos ? at : log.find('\n', at);
    if (end != std::string::npos) {
      start_took_ = clock.Steady() - spawned_;
      address_ = log.substr(at + words.size(), end - at - words.size());
      return true;
    }
    if (ended) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

bool CoordinatorProgram::Start(const std::vector<std::string>& environment) {
  Spawn(environment);
  return AwaitListening();
}

void CoordinatorProgram::Kill() {
  if (program_ != nullptr) program_->Kill();
}

}  // namespace frostline::bench
