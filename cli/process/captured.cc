// SPDX-License-Identifier: Apache-2.0
#include "cli/process/captured.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMostOutput = std::size_t{64} << 20;
constexpr int kSignalled = 128;
constexpr int kLook = 100;  // milliseconds between two looks at the clock

class Pipe {
 public:
  Pipe() = default;
  ~Pipe() {
    CloseWrite();
    if (ends_[0] >= 0) close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool Open() { return pipe2(ends_.data(), O_CLOEXEC) == 0; }
  void CloseWrite() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_ = {-1, -1};
};

// Ctrl-C ends us at once and the program with us: it stays in our group. What
// StopSignals holds off is not held off from it.
absl::StatusOr<pid_t> Spawn(std::vector<std::string> words, int out, int err) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err, STDERR_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, pointers[0], &files, &how, pointers.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return pid;
  const std::string cause = absl::StrCat(words[0], ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(cause);
  return absl::InternalError(cause);
}

// Returns false at the end of the output.
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
      {{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}}};
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

int CodeOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? kSignalled + WTERMSIG(wait_status)
                                  : WEXITSTATUS(wait_status);
}

}  // namespace

absl::StatusOr<Captured> RunCaptured(const std::vector<std::string>& words,
                                     Duration longest,
                                     const std::string& last_words) {
  const SteadyTime end = SystemClock().Steady() + longest;
  Pipe out, err;
  if (!out.Open() || !err.Open()) {
    return absl::InternalError(std::strerror(errno));
  }
  const auto pid = Spawn(words, out.write_end(), err.write_end());
  if (!pid.ok()) return pid.status();
  out.CloseWrite();
  err.CloseWrite();
  Captured captured;
  const absl::Status read = ReadAll(out, err, end, last_words, &captured);
  if (!read.ok() || HasSaid(captured, last_words)) kill(*pid, SIGKILL);
  int wait_status = 0;
  while (waitpid(*pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  if (!read.ok()) {
    return absl::Status(read.code(),
                        absl::StrCat(words[0], ": ", read.message()));
  }
  captured.code = CodeOf(wait_status);
  return captured;
}

}  // namespace frostline::cli
