// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/orphans.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "worker/agent/child_processes.h"

namespace frostline::agent {
namespace {

// It has ended, by no will of its own; its owner still collects it.
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

// Under the lock, so that none is taken for an orphan before it is known.
pid_t Orphans::Fork(absl::FunctionRef<pid_t()> fork) {
  const MutexLock lock(&mutex_);
  const pid_t guardian = fork();
  if (guardian > 0) guardians_.insert(guardian);
  return guardian;
}

// Under the lock, as the number may be the next guardian's at once.
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
