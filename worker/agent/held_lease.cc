// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/held_lease.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "proto/wire_time.h"
#include "worker/agent/rpc_client.h"

namespace frostline::agent {
namespace {

// Each piece costs a heartbeat of all leases.
constexpr Duration kFollowPause = std::chrono::milliseconds(500);
// A coordinator shows no more.
constexpr double kMostStepsPerSecond = 1e9;

int GravityOf(v1::Directive::Action action) {
  switch (action) {
    case v1::Directive::CHECKPOINT_AND_RELEASE:
      return 1;
    case v1::Directive::STOP_PRUNED:
      return 2;
    case v1::Directive::STOP_CANCELLED:
      return 3;
    case v1::Directive::LEASE_LOST:
      return 4;
    default:
      return 0;  // CONTINUE, and what a newer coordinator may invent
  }
}

}  // namespace

HeldLease::HeldLease(const v1::Lease& lease, const RenewalWatch& watch,
                     const Clock& clock, Wakeup& wakeup, LogTail& log, int slot)
    : clock_(clock),
      wakeup_(wakeup),
      log_(log),
      heartbeat_interval_(proto::DurationFromProto(lease.heartbeat_interval())),
      slot_(slot),
      watch_(watch),
      step_time_(clock.Steady()),
      said_time_(step_time_) {
  proof_.set_trial(lease.trial());
  proof_.set_attempt(lease.attempt());
  proof_.set_secret(lease.secret());
}

void HeldLease::NoteStep(std::int64_t step, std::int64_t total_steps) {
  const MutexLock lock(&mutex_);
  step_ = step;
  total_steps_ = total_steps;
  step_time_ = clock_.Steady();
  rate_.Note(step, step_time_);
}

void HeldLease::NoteProgress(const ProgressMessage& progress) {
  const MutexLock lock(&mutex_);
  said_ = progress;
  said_time_ = clock_.Steady();
}

v1::TrialProgress HeldLease::HowFar() const {
  const SteadyTime now = clock_.Steady();
  v1::TrialProgress progress;
  progress.set_phase(said_.phase);
  progress.set_epoch(said_.epoch);
  progress.set_total_epochs(said_.total_epochs);
  progress.set_steps_per_second(std::min(rate_.At(now), kMostStepsPerSecond));
  progress.set_slot(slot_);
  if (!said_.remaining_s.has_value()) return progress;
  // What was expected then has become less since.
  const auto expected = std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(*said_.remaining_s));
  *progress.mutable_remaining() = proto::DurationToProto(
      std::max(Duration::zero(), expected - (now - said_time_)));
  return progress;
}

v1::LeaseProgress HeldLease::Progress(bool tail_fits) {
  v1::LeaseProgress progress;
  *progress.mutable_lease() = proof_;
  const MutexLock lock(&mutex_);
  progress.set_step(step_);
  progress.set_total_steps(total_steps_);
  *progress.mutable_progress() = HowFar();
  *progress.mutable_since_step() =
      proto::DurationToProto(clock_.Steady() - step_time_);
  const bool has_new = followed_.has_value() && log_.end() > followed_->least;
  if (!tail_fits || (!want_log_by_.has_value() && !has_new)) return progress;
  // Whoever wants all of it gets what followers lack, too.
  LogTail::Piece piece =
      want_log_by_.has_value() ? log_.Tail() : log_.After(followed_->least);
  progress.set_log_tail(std::move(piece.text));
  progress.set_log_end(piece.end);
  want_log_by_.reset();
  sent_log_ = clock_.Steady();
  if (!followed_.has_value()) return progress;
  if (followed_->most < piece.end) {
    followed_.reset();
  } else {
    followed_->least = followed_->most;
    log_.RingAfter(followed_->least, followed_->bell);
  }
  return progress;
}

void HeldLease::WantLog(Duration pause) {
  const MutexLock lock(&mutex_);
  const SteadyTime by = clock_.Steady() + pause;
  want_log_by_ = std::min(want_log_by_.value_or(by), by);
}

void HeldLease::WantLogAfter(std::int64_t bytes, Wakeup* bell) {
  const MutexLock lock(&mutex_);
  // Nobody has read what is not there yet.
  bytes = std::min(bytes, log_.end());
  if (!followed_.has_value()) followed_ = Followed{bytes, bytes, bell};
  followed_->least = std::min(followed_->least, bytes);
  followed_->most = std::max(followed_->most, bytes);
  log_.RingAfter(followed_->least, bell);
}

std::optional<SteadyTime> HeldLease::LogDue() const {
  const MutexLock lock(&mutex_);
  if (want_log_by_.has_value()) return want_log_by_;
  if (!followed_.has_value() || log_.end() <= followed_->least) {
    return std::nullopt;
  }
  const SteadyTime now = clock_.Steady();
  return sent_log_.has_value() ? std::max(now, *sent_log_ + kFollowPause) : now;
}

void HeldLease::ForgetFollowers() {
  const MutexLock lock(&mutex_);
  followed_.reset();
}

void HeldLease::Renewed(SteadyTime sent) {
  const MutexLock lock(&mutex_);
  watch_.Renewed(sent);
}

void HeldLease::Judge() {
  const MutexLock lock(&mutex_);
  const LeaseHealth health = watch_.At(clock_.Steady());
  if (health == health_) return;
  if (health == LeaseHealth::kHeld) {
    Log(LogLevel::kInfo, "lease_renewed", {{"trial", proof_.trial()}});
  } else if (health == LeaseHealth::kOrphan) {
    Log(LogLevel::kWarning, "lease_in_doubt", {{"trial", proof_.trial()}});
  } else {
    Log(LogLevel::kWarning, "lease_forsaken", {{"trial", proof_.trial()}});
    forsaken_ = true;
    wakeup_.Ring();
  }
  health_ = health;
}

bool HeldLease::forsaken() const {
  const MutexLock lock(&mutex_);
  return forsaken_;
}

void HeldLease::Obey(const v1::Directive& directive) {
  if (directive.trial() != proof_.trial() ||
      directive.attempt() != proof_.attempt()) {
    return;
  }
  const MutexLock lock(&mutex_);
  if (GravityOf(directive.action()) <= GravityOf(directive_.action())) return;
  directive_ = directive;
  wakeup_.Ring();
}

v1::Directive HeldLease::directive() const {
  const MutexLock lock(&mutex_);
  return directive_;
}

}  // namespace frostline::agent
