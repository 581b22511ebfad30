// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "worker/agent/guardian.h"
#include "worker/agent/orphans.h"

namespace frostline::agent {
namespace {

// Both ends are closed on exec, and with this object.
class Pipe {
 public:
  Pipe() = default;
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_ = ends[0];
    write_ = ends[1];
    return true;
  }
  int read() const { return read_; }
  int write() const { return write_; }
  int TakeRead() { return std::exchange(read_, -1); }
  int TakeWrite() { return std::exchange(write_, -1); }
  void CloseRead() {
    if (read_ >= 0) close(std::exchange(read_, -1));
  }
  void CloseWrite() {
    if (write_ >= 0) close(std::exchange(write_, -1));
  }

 private:
  int read_ = -1;
  int write_ = -1;
};

absl::Status StartError(const char* call, int error) {
  return MakeError(ErrorId::kTrainerStart,
                   absl::StrCat(call, ": ", std::strerror(error)),
                   "raise the limits on processes and open files (ulimit -u, "
                   "ulimit -n)");
}

// What the guardian says first. False if it died before.
bool ReadWord(int fd, GuardianWord* word) {
  ssize_t size = 0;
  do {
    size = read(fd, word, sizeof(*word));
  } while (size < 0 && errno == EINTR);
  return size == sizeof(*word);
}

void MakeNonBlocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

// As fork(), but the child has every signal blocked from its first moment.
pid_t ForkBlocked() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int error = errno;
  if (pid != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// Ours, then the agent's own where ours does not set the same key.
std::vector<std::string> MergedEnvironment(
    const std::vector<std::string>& ours) {
  std::vector<std::string> merged = ours;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::string key = variable.substr(0, variable.find('=') + 1);
    const bool replaced =
        std::any_of(ours.begin(), ours.end(), [&key](const std::string& own) {
          return own.compare(0, key.size(), key) == 0;
        });
    if (!replaced) merged.push_back(variable);
  }
  return merged;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

absl::StatusOr<Spawned> SpawnShell(
    const std::string& script, const std::vector<std::string>& environment) {
  // Whoever writes to a child that is gone gets EPIPE, not the end of us all.
  signal(SIGPIPE, SIG_IGN);
  Pipe in, out, err, orders, words;
  for (Pipe* const pipe : {&in, &out, &err, &orders, &words}) {
    if (!pipe->Open()) return StartError("pipe", errno);
  }
  std::vector<std::string> argument_texts = {"sh", "-c", script};
  std::vector<std::string> variable_texts = MergedEnvironment(environment);
  const std::vector<char*> arguments = Pointers(argument_texts);
  const std::vector<char*> variables = Pointers(variable_texts);
  const GuardedTrainer trainer{in.read(), out.write(), err.write(),
                               arguments.data(), variables.data()};
  MakeNonBlocking(orders.read());
  const pid_t guardian = Orphans::Ours().Fork([&] {
    const pid_t forked = ForkBlocked();
    if (forked == 0) Guard(trainer, orders.read(), words.write());
    return forked;
  });
  if (guardian < 0) return StartError("fork", errno);
  words.CloseWrite();
  GuardianWord word{};
  const bool spoke = ReadWord(words.read(), &word);
  if (!spoke || word.kind != GuardianWord::Kind::kStarted) {
    Orphans::Ours().Collect(guardian, nullptr, 0);
    return StartError("fork", spoke ? word.value : ECHILD);
  }
  Spawned child{guardian,        word.value,     in.TakeWrite(),
                out.TakeRead(),  err.TakeRead(), orders.TakeWrite(),
                words.TakeRead()};
  for (const int fd :
       {child.in, child.out, child.err, child.orders, child.words}) {
    MakeNonBlocking(fd);
  }
  return child;
}

}  // namespace frostline::agent
