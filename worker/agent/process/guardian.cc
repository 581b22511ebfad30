// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/guardian.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <vector>

namespace frostline::agent {
namespace {

constexpr int kCannotExec = 126;

// Becomes the trainer's shell, in the guardian's child.
[[noreturn]] void BecomeShell(const GuardedTrainer& trainer, pid_t guardian) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The guardian may have died before the line above.
  if (getppid() != guardian) _exit(kCannotExec);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  // A scheduler sends its warnings, which are for the agent alone, to every
  // process of a job. By default these two would end the trainer.
  signal(SIGUSR1, SIG_IGN);
  signal(SIGUSR2, SIG_IGN);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(trainer.in, STDIN_FILENO);
  dup2(trainer.out, STDOUT_FILENO);
  dup2(trainer.err, STDERR_FILENO);
  close_range(STDERR_FILENO + 1, ~0U, 0);
  execve("/bin/sh", trainer.arguments, trainer.variables);
  _exit(kCannotExec);
}

void CloseFrom(int first, int last) {
  if (first > last) return;
  const auto from = static_cast<unsigned>(first);
  if (close_range(from, static_cast<unsigned>(last), 0) == 0) return;
  // This is for a kernel before 5.9. If we kept our own end of the orders it
  // would never close.
  const int most = std::min(last, static_cast<int>(sysconf(_SC_OPEN_MAX)));
  for (int fd = first; fd <= most; ++fd) close(fd);
}

void KeepOnly(std::array<int, 3> kept) {
  std::sort(kept.begin(), kept.end());
  int from = 0;
  for (const int fd : kept) {
    CloseFrom(from, fd - 1);
    from = std::max(from, fd + 1);
  }
  CloseFrom(from, INT_MAX);
}

}  // namespace

void Guard(const GuardedTrainer& trainer, int orders, int words) {
  // A Ctrl-C, or a signal to the agent's group, must not reach this process.
  setpgid(0, 0);
  prctl(PR_SET_NAME, "frostline-guard");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, SIG_DFL);
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeShell(trainer, self);
  GuardianWord word{GuardianWord::Kind::kStarted, pid};
  if (pid < 0) word = {GuardianWord::Kind::kNotForked, errno};
  // The child does this too; whichever comes first, the group is there when the
  // agent hears of it.
  if (pid > 0) setpgid(pid, pid);
  if (write(words, &word, sizeof(word)) != sizeof(word) || pid < 0) _exit(1);
  for (const int fd : {trainer.in, trainer.out, trainer.err}) close(fd);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  const int heard = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  KeepOnly({orders, words, heard});
  GuardianLoop(pid, orders, words, heard).Run();
}

namespace {

pid_t NumberAt(const char* text) {
  pid_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    number = number * 10 + (*text - '0');
  return number;
}

// Returns the parent of the process with this number in /proc; 0 if it is gone.
pid_t ParentOf(const char* number) {
  std::array<char, 64> path{};
  const std::size_t length = std::strlen(number);
  if (length > 20) return 0;
  std::memcpy(path.data(), "/proc/", 6);
  std::memcpy(path.data() + 6, number, length);
  std::memcpy(path.data() + 6 + length, "/stat", 5);
  const int fd = open(path.data(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  std::array<char, 256> stat{};
  const ssize_t size = read(fd, stat.data(), stat.size() - 1);
  close(fd);
  if (size <= 0) return 0;
  // "17 (any name) S 4 …": a name may hold blanks and brackets.
  const char* at = std::strrchr(stat.data(), ')');
  return at == nullptr || std::strlen(at) < 5 ? 0 : NumberAt(at + 4);
}

}  // namespace

void ForEachChild(void (*see)(pid_t child, void* context), void* context) {
  const pid_t self = getpid();
  const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(dirent64) std::array<char, 4096> entries;
  long size = 0;
  while ((size = syscall(SYS_getdents64, folder, entries.data(),
                         entries.size())) > 0) {
    for (long at = 0; at < size;) {
      const auto* entry =
          reinterpret_cast<const dirent64*>(entries.data() + at);
      at += entry->d_reclen;
      if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
      if (ParentOf(entry->d_name) == self)
        see(NumberAt(entry->d_name), context);
    }
  }
  close(folder);
}

namespace {

// It is told at once of a child's end, but not of a grandchild that becomes a
// child, so it looks this often.
constexpr int kLookMs = 1000;
constexpr int kKillMs = 20;
constexpr int kRoundsOfASecond = 1000 / kKillMs;
constexpr int kShortRounds = 10 * kRoundsOfASecond;

}  // namespace

void GuardianLoop::Run() {
  while (true) {
    Listen();
    Reap();
    if (!kills_) continue;
    if (!has_children_) _exit(0);
    KillChildren();
  }
}

void GuardianLoop::Tell(GuardianWord::Kind kind, int value) const {
  const GuardianWord word{kind, value};
  // If the agent is gone, or listens no more, it misses nothing.
  [[maybe_unused]] const ssize_t told = write(words_, &word, sizeof(word));
}

void GuardianLoop::Listen() {
  std::array<pollfd, 2> entries = {{{orders_, POLLIN, 0}, {ends_, POLLIN, 0}}};
  const bool hurries = kills_ && rounds_ < kShortRounds;
  poll(entries.data(), entries.size(), hurries ? kKillMs : kLookMs);
  signalfd_siginfo end{};
  while (read(ends_, &end, sizeof(end)) > 0) {
  }
  if (orders_ < 0) return;
  char order = 0;
  ssize_t size = read(orders_, &order, 1);
  for (; size > 0; size = read(orders_, &order, 1)) Obey(order);
  if (size < 0) return;
  kills_ = true;  // nobody can give orders any more
  close(orders_);
  orders_ = -1;
}

void GuardianLoop::Obey(char order) {
  const bool asks = order == static_cast<char>(GuardianOrder::kTerminate);
  if (asks && !ended_) kill(-trainer_, SIGTERM);
  kills_ = kills_ || !asks;
}

void GuardianLoop::Reap() {
  siginfo_t child{};
  while (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0) {
    if (child.si_pid == 0) return;
    const bool is_trainer = child.si_pid == trainer_ && !ended_;
    // It kills the group before it collects the trainer, since until then no
    // other process can get this number.
    if (is_trainer) kill(-trainer_, SIGKILL);
    int status = 0;
    waitpid(child.si_pid, &status, 0);
    if (is_trainer) {
      ended_ = kills_ = true;
      Tell(GuardianWord::Kind::kEnded, status);
    }
    child.si_pid = 0;
  }
  has_children_ = errno != ECHILD;
}

// Kills the children. Their own children then become ours, for the next round.
void GuardianLoop::KillChildren() {
  if (!ended_) kill(-trainer_, SIGKILL);
  pid_t child = 0;
  // Nobody else collects our children, so the numbers stay theirs.
  ForEachChild(
      [](pid_t one, void* last) {
        kill(one, SIGKILL);
        *static_cast<pid_t*>(last) = one;
      },
      &child);
  const bool tells = ++rounds_ % kRoundsOfASecond == 0;
  if (tells && child != 0) Tell(GuardianWord::Kind::kLives, child);
}

namespace {

// Says whether a signal ended the guardian. Its owner still collects it.
bool WasKilled(pid_t guardian) {
  siginfo_t end{};
  const int found = waitid(P_PID, static_cast<id_t>(guardian), &end,
                           WEXITED | WNOHANG | WNOWAIT);
  return found == 0 && end.si_pid == guardian && end.si_code != CLD_EXITED;
}

}  // namespace

Orphans& Orphans::Ours() {
  static Orphans* const ours = new Orphans;
  return *ours;
}

Orphans::Orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

// The lock is held over the fork, so that no guardian is taken for an orphan.
pid_t Orphans::Fork(absl::FunctionRef<pid_t()> fork) {
  const MutexLock lock(&mutex_);
  const pid_t guardian = fork();
  if (guardian > 0) guardians_.insert(guardian);
  return guardian;
}

// The lock is held, since the next guardian may get the number at once.
pid_t Orphans::Collect(pid_t guardian, int* status, int options) {
  const MutexLock lock(&mutex_);
  const pid_t collected = waitpid(guardian, status, options);
  if (collected != 0) guardians_.erase(guardian);
  return collected;
}

pid_t Orphans::Kill() {
  const MutexLock lock(&mutex_);
  return KillAll();
}

void Orphans::Look() {
  const MutexLock lock(&mutex_);
  if (std::any_of(guardians_.begin(), guardians_.end(), WasKilled)) KillAll();
}

pid_t Orphans::KillAll() {
  std::vector<pid_t> children;
  ForEachChild(
      [](pid_t child, void* seen) {
        static_cast<std::vector<pid_t>*>(seen)->push_back(child);
      },
      &children);
  pid_t left = 0;
  for (const pid_t child : children) {
    if (guardians_.contains(child)) continue;
    left = child;
    kill(child, SIGKILL);
    waitpid(child, nullptr, WNOHANG);
  }
  return left;
}

}  // namespace frostline::agent
