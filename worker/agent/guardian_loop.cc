// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/guardian_loop.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "worker/agent/child_processes.h"

namespace frostline::agent {
namespace {

// A child's end is heard at once; a grandchild that becomes a child is not.
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
  // An agent that is gone, or listens no more, misses nothing.
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
    // Left unreaped for a moment: its number cannot be given to another
    // process before its whole group is gone.
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

// Those that they leave behind become children: next round.
void GuardianLoop::KillChildren() {
  if (!ended_) kill(-trainer_, SIGKILL);
  pid_t child = 0;
  // Each is ours until we reap it, so the number is its own.
  ForEachChild(
      [](pid_t one, void* last) {
        kill(one, SIGKILL);
        *static_cast<pid_t*>(last) = one;
      },
      &child);
  const bool tells = ++rounds_ % kRoundsOfASecond == 0;
  if (tells && child != 0) Tell(GuardianWord::Kind::kLives, child);
}

}  // namespace frostline::agent
