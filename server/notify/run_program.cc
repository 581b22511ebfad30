// SPDX-License-Identifier: Apache-2.0
#include "server/notify/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "proto/wire_error.h"

namespace frostline::server {
namespace {

constexpr int kLook = 20;  // milliseconds between two looks at the program
constexpr int kSignalled = 128;
constexpr std::size_t kKeptOutput = 4096;
constexpr std::size_t kMostLine = 200;
// What a program needs to find others and to reach the world; nothing else of
// the coordinator's environment is its business.
constexpr std::array kInherited = {
    "PATH",     "HOME",       "LANG",       "TZ",          "NO_PROXY",
    "no_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"};

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

absl::Status Failed(const char* what, int error) {
  return absl::InternalError(absl::StrCat(what, ": ", std::strerror(error)));
}

// A file without a name is never full and never blocks, as a pipe would be.
absl::Status WriteInput(const std::string& text, int fd) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(fd, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed("its input", errno);
    written += static_cast<std::size_t>(n);
  }
  if (lseek(fd, 0, SEEK_SET) != 0) return Failed("its input", errno);
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

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::StatusOr<pid_t> Spawn(const Program& program, int in, int out) {
  std::vector<std::string> words = program.words;
  std::vector<std::string> variables = EnvironmentOf(program);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  sigset_t ours;  // the coordinator ignores these
  sigemptyset(&ours);
  sigaddset(&ours, SIGPIPE);
  sigaddset(&ours, SIGXFSZ);
  posix_spawnattr_setsigdefault(&how, &ours);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK |
                                     POSIX_SPAWN_SETSIGDEF |
                                     POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, words[0].c_str(), &files, &how, Pointers(words).data(),
                   Pointers(variables).data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return Failed("it cannot be started", error);
  return pid;
}

// Keeps the end alone: a program may write as much as it likes.
bool ReadSome(int fd, std::string* kept) {
  std::array<char, 4096> buffer;
  const ssize_t size = read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  kept->append(buffer.data(), static_cast<std::size_t>(size));
  if (kept->size() > kKeptOutput) kept->erase(0, kept->size() - kKeptOutput);
  return size > 0;
}

// What has gone may have left as much as a pipe holds.
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

int CodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

void KillGroup(pid_t leader) {
  kill(-leader, SIGKILL);
  int ignored = 0;
  while (waitpid(leader, &ignored, 0) < 0 && errno == EINTR) {
  }
}

// What it left running may hold the pipe, so that its end tells nothing.
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
      return Ran{CodeOf(wait_status), LastLine(kept)};
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
  if (in.get() < 0) return Failed("its input", errno);
  RETURN_IF_ERROR(WriteInput(program.input, in.get()));
  std::array<int, 2> ends = {-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Failed("its output", errno);
  const Descriptor out(ends[0]);
  Descriptor written(ends[1]);
  fcntl(out.get(), F_SETFL, O_NONBLOCK);
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(program, in.get(), written.get()));
  in.Close();
  written.Close();
  return WaitFor(pid, out.get(), program.limit, stop);
}

}  // namespace frostline::server
