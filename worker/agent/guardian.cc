// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/guardian.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

#include "worker/agent/guardian_loop.h"

namespace frostline::agent {
namespace {

constexpr int kCannotExec = 126;

// In the guardian's child.
[[noreturn]] void BecomeShell(const GuardedTrainer& trainer, pid_t guardian) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The guardian may have died before the line above.
  if (getppid() != guardian) _exit(kCannotExec);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  // A scheduler sends its warnings to every process of a job. These two end
  // whoever has not asked for them, and are for the agent alone.
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
  // A kernel before 5.9. Our own end of the orders would keep them open.
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
  // A Ctrl-C, or a kill of the agent's group, is not for this process.
  setpgid(0, 0);
  prctl(PR_SET_NAME, "frostline-guard");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGCHLD, SIG_DFL);
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid == 0) BecomeShell(trainer, self);
  GuardianWord word{GuardianWord::Kind::kStarted, pid};
  if (pid < 0) word = {GuardianWord::Kind::kNotForked, errno};
  // Here too, so that the group is there when the agent hears of it.
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

}  // namespace frostline::agent
