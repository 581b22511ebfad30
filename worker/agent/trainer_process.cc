// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trainer_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "worker/agent/orphans.h"
#include "worker/agent/protocol.h"
#include "worker/agent/spawn.h"

namespace frostline::agent {
namespace {

// A trainer may end without its pipes being closed: a child of its own has
// them. So its end is looked for at least this often.
constexpr Duration kLookInterval = std::chrono::milliseconds(100);
// Between closing its output and its end a trainer may still tidy up.
constexpr Duration kMuteGrace = std::chrono::seconds(5);
constexpr Duration kReapInterval = std::chrono::milliseconds(2);
constexpr Duration kTrainerEndPatience = std::chrono::seconds(5);
constexpr Duration kLastPatience = std::chrono::seconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<TrainerProcess>> TrainerProcess::Start(
    const TrainerCommand& command, LogTail& log) {
  ASSIGN_OR_RETURN(const Spawned child,
                   SpawnShell("exec " + command.command, command.environment));
  return std::unique_ptr<TrainerProcess>(new TrainerProcess(child, log));
}

TrainerProcess::TrainerProcess(const Spawned& child, LogTail& log)
    : guardian_(child.guardian),
      trainer_(child.trainer),
      pid_(child.trainer),
      pipes_(child.in, child.out, child.err, log),
      orders_(child.orders),
      words_(child.words) {}

TrainerProcess::~TrainerProcess() {
  Kill();
  for (int* const fd : {&orders_, &words_}) CloseFd(fd);
}

TrainerProcess::Output TrainerProcess::Wait(Wakeup& wakeup, Duration time) {
  Output output;
  // A negative fd is passed over by poll(2).
  std::array<pollfd, 5> entries = {{{pipes_.out(), POLLIN, 0},
                                    {pipes_.err(), POLLIN, 0},
                                    {words_, POLLIN, 0},
                                    {pipes_.in_to_write(), POLLOUT, 0},
                                    {wakeup.fd(), POLLIN, 0}}};
  poll(entries.data(), entries.size(),
       PollMillis(std::min(time, kLookInterval)));
  if (entries[4].revents != 0) wakeup.Hush();
  // Looked at before reading: what it wrote before its end is then in the pipe.
  KillIfMute();
  const bool gone = Reap();
  pipes_.Flush();
  pipes_.ReadError();
  pipes_.ReadOutput(gone, &output);
  return output;
}

// Its output is closed, so its trial can never be finished by it.
void TrainerProcess::KillIfMute() {
  if (pipes_.out() >= 0) return;
  const SteadyTime now = SystemClock().Steady();
  if (mute_since_ == SteadyTime{}) mute_since_ = now;
  if (now - mute_since_ > kMuteGrace) Order(GuardianOrder::kKill);
}

void TrainerProcess::ExpectEnd() {
  if (end_due_ == SteadyTime{}) {
    end_due_ = SystemClock().Steady() + kTrainerEndPatience;
  }
}

void TrainerProcess::Order(GuardianOrder order) {
  if (order == GuardianOrder::kKill) ExpectEnd();
  // A guardian that is gone has left nothing to kill.
  [[maybe_unused]] const ssize_t sent = write(orders_, &order, sizeof(order));
}

void TrainerProcess::HearGuardian() {
  GuardianWord word{};
  ssize_t size = 0;
  while (words_ >= 0 && (size = read(words_, &word, sizeof(word))) != 0) {
    if (size != sizeof(word)) return;
    if (word.kind == GuardianWord::Kind::kEnded) {
      own_status_ = word.value;
      ExpectEnd();
    } else if (word.kind == GuardianWord::Kind::kLives) {
      pid_ = word.value;
    }
  }
  CloseFd(&words_);
}

// Both numbers are theirs: nobody has collected the guardian's status, nor the
// guardian, as far as it told, the trainer's.
void TrainerProcess::KillPastGuardian() {
  killed_past_guardian_ = true;
  end_due_ = SystemClock().Steady() + kLastPatience;
  if (!own_status_.has_value()) kill(-trainer_, SIGKILL);
  kill(guardian_, SIGCONT);
}

bool TrainerProcess::Reap() {
  if (ended_ || unkillable_) return ended_;
  HearGuardian();
  const bool gone = CollectGuardian() && !LeavesOrphans();
  if (!gone) {
    const bool late =
        end_due_ != SteadyTime{} && SystemClock().Steady() >= end_due_;
    if (late && !killed_past_guardian_ && !guardian_status_.has_value()) {
      KillPastGuardian();
    } else {
      unkillable_ = late;
    }
    return false;
  }
  HearGuardian();
  wait_status_ = own_status_.value_or(*guardian_status_);
  ended_ = true;
  return true;
}

bool TrainerProcess::CollectGuardian() {
  if (guardian_status_.has_value()) return true;
  // Without an end to speak through it is on its way out.
  int status = 0;
  const pid_t waited =
      Orphans::Ours().Collect(guardian_, &status, words_ < 0 ? 0 : WNOHANG);
  // Where ends of children are ignored there is nobody to wait for.
  const bool gone = waited > 0 || (waited < 0 && errno == ECHILD);
  if (!gone) return false;
  guardian_status_ = status;
  return true;
}

// Somebody killed the guardian: the trainer alone is gone then.
bool TrainerProcess::LeavesOrphans() {
  if (WIFEXITED(*guardian_status_)) return false;
  const pid_t orphan = Orphans::Ours().Kill();
  if (orphan == 0) return false;
  ExpectEnd();
  if (SystemClock().Steady() >= end_due_) pid_ = orphan;
  return true;
}

bool TrainerProcess::EndedAtLast() {
  unkillable_ = false;
  if (Reap()) return true;
  unkillable_ = true;
  return false;
}

void TrainerProcess::Terminate(Duration grace) {
  if (Reap() || unkillable_) return;
  killed_by_us_ = true;
  const SystemClock clock;
  const SteadyTime deadline = clock.Steady() + grace;
  if (grace > Duration::zero()) Order(GuardianOrder::kTerminate);
  bool killed = false;
  while (!Reap() && !unkillable_) {
    if (!killed && clock.Steady() >= deadline) {
      Order(GuardianOrder::kKill);
      killed = true;
    }
    pipes_.ReadError();
    std::this_thread::sleep_for(kReapInterval);
  }
}

std::string DescribeWaitStatus(int wait_status) {
  if (WIFEXITED(wait_status)) {
    return absl::StrCat("exited with code ", WEXITSTATUS(wait_status));
  }
  const int number = WTERMSIG(wait_status);
  return absl::StrCat("was killed by signal ", number, " (", strsignal(number),
                      ")");
}

}  // namespace frostline::agent
