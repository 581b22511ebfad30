// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "worker/agent/link/rpc_client.h"

namespace frostline::agent {
namespace {

constexpr Duration kSpan = std::chrono::minutes(1);
constexpr Duration kApart = std::chrono::seconds(1);

}  // namespace

void StepRate::Note(std::int64_t step, SteadyTime now) {
  const std::size_t count = noted_.size();
  const bool is_close = count >= 2 && now - noted_[count - 2].time < kApart;
  if (is_close) noted_.pop_back();
  noted_.push_back({step, now});
  while (noted_.size() > 2 && noted_[1].time <= now - kSpan) {
    noted_.pop_front();
  }
}

double StepRate::At(SteadyTime now) const {
  if (noted_.empty()) return 0.0;
  const Noted& first = noted_.front();
  const Noted& last = noted_.back();
  if (last.time - first.time < kApart) return 0.0;
  const Duration took = std::max(last.time, now - kSpan) - first.time;
  return static_cast<double>(last.step - first.step) /
         std::chrono::duration<double>(took).count();
}

namespace {

// The least time between two pieces, since each costs a heartbeat of all
// leases.
constexpr Duration kFollowPause = std::chrono::milliseconds(500);

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
  progress.set_steps_per_second(std::min(
      rate_.At(now),
      proto::RuleOf(*progress.GetDescriptor(), "steps_per_second").most()));
  progress.set_slot(slot_);
  if (!said_.remaining_s.has_value()) return progress;
  // Since the trainer said it, some of the remaining time has passed.
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
  // The end of the log also has what followers lack.
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
  // Nobody has read more than there is.
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

namespace {

constexpr double kSpread = 0.2;
constexpr Duration kShortestDeadline = std::chrono::seconds(1);
constexpr Duration kLongestDeadline = std::chrono::seconds(10);
// Each has 64 KiB, so that a heartbeat stays within the 1 MiB of a request.
constexpr std::size_t kMostTails = 10;
// Whoever follows a log asks for it again after each answer.
constexpr Duration kTailPause = std::chrono::milliseconds(500);

std::uint64_t SeedOf(const std::string& boot_id) {
  return std::hash<std::string>()(boot_id);
}

}  // namespace

LeaseKeeper::LeaseKeeper(RpcClient& client, const Clock& clock,
                         std::string worker_name, std::string boot_id,
                         Hooks hooks)
    : client_(client),
      clock_(clock),
      worker_name_(std::move(worker_name)),
      boot_id_(std::move(boot_id)),
      hooks_(std::move(hooks)),
      rng_(SeedOf(boot_id_)),
      tells_progress_(hooks_.tells_progress) {}

LeaseKeeper::~LeaseKeeper() { Stop(); }

void LeaseKeeper::Start(Duration interval) {
  {
    const MutexLock lock(&mutex_);
    interval_ = interval;
  }
  thread_ = std::thread([this] { Loop(); });
}

void LeaseKeeper::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void LeaseKeeper::Hold(std::shared_ptr<HeldLease> lease, bool hurries) {
  hurries = hurries || lease->heartbeat_interval() < Interval();
  {
    const MutexLock lock(&mutex_);
    leases_.push_back(std::move(lease));
    hurries_ = hurries_ || hurries;
  }
  // Its first beat may be due before the next regular one.
  if (hurries) wakeup_.Ring();
  if (hooks_.holds) hooks_.holds();
}

void LeaseKeeper::LetGo(const std::shared_ptr<HeldLease>& lease) {
  const MutexLock lock(&mutex_);
  leases_.erase(std::remove(leases_.begin(), leases_.end(), lease),
                leases_.end());
}

bool LeaseKeeper::HoldsAny() const {
  const MutexLock lock(&mutex_);
  return !leases_.empty();
}

void LeaseKeeper::NoteWishes(const v1::ListenReply& reply) {
  {
    const MutexLock lock(&mutex_);
    is_listening_ = true;
  }
  for (const auto& lease : Held()) {
    for (const v1::LogWish& wish : reply.wishes()) {
      if (wish.trial() != lease->proof().trial() ||
          wish.attempt() != lease->proof().attempt()) {
        continue;
      }
      if (wish.has_after()) {
        lease->WantLogAfter(wish.after(), &wakeup_);
      } else {
        lease->WantLog();
      }
    }
  }
  if (reply.wishes_size() > 0) wakeup_.Ring();
}

void LeaseKeeper::NoteListenFailed() {
  {
    const MutexLock lock(&mutex_);
    is_listening_ = false;
  }
  for (const auto& lease : Held()) lease->ForgetFollowers();
}

void LeaseKeeper::Obey(const v1::Directive& directive) {
  for (const auto& lease : Held()) lease->Obey(directive);
}

LeaseKeeper::Leases LeaseKeeper::Held() const {
  const MutexLock lock(&mutex_);
  return leases_;
}

Duration LeaseKeeper::Interval() const {
  const MutexLock lock(&mutex_);
  Duration interval = interval_;
  for (const auto& lease : leases_) {
    if (lease->heartbeat_interval() > Duration::zero()) {
      interval = std::min(interval, lease->heartbeat_interval());
    }
  }
  return interval;
}

void LeaseKeeper::Loop() {
  Backoff backoff(std::chrono::milliseconds(500), std::chrono::seconds(30));
  while (true) {
    const bool heard = Beat();
    for (const auto& lease : Held()) lease->Judge();
    Rest(heard, UntilNext(heard, backoff));
    const MutexLock lock(&mutex_);
    if (stopped_) return;
  }
}

void LeaseKeeper::Rest(bool heard, Duration until_next) {
  const SteadyTime next = clock_.Steady() + until_next;
  while (true) {
    // While nobody answers, logs wait like everything else.
    const auto log = heard ? NextLogDue() : std::nullopt;
    const SteadyTime until = std::min(log.value_or(next), next);
    const SteadyTime now = clock_.Steady();
    if (until <= now) return;
    wakeup_.WaitFor(until - now);
    const MutexLock lock(&mutex_);
    if (stopped_ || std::exchange(hurries_, false)) return;
  }
}

std::optional<SteadyTime> LeaseKeeper::NextLogDue() const {
  std::optional<SteadyTime> first;
  for (const auto& lease : Held()) {
    const auto due = lease->LogDue();
    if (due.has_value()) first = std::min(first.value_or(*due), *due);
  }
  return first;
}

Duration LeaseKeeper::UntilNext(bool heard, Backoff& backoff) {
  const Duration regular = Jitter(Interval(), kSpread, rng_);
  // After a failure it asks sooner than usual, at a random time, so that
  // workers do not all come at once.
  if (!heard) return std::min(regular, backoff.Next(rng_));
  backoff.Reset();
  return regular;
}

v1::HeartbeatRequest LeaseKeeper::NextBeat(const Leases& leases,
                                           Leases* tails) {
  v1::HeartbeatRequest request;
  request.set_worker(worker_name_);
  request.set_boot_id(boot_id_);
  request.set_sequence(++sequence_);
  if (hooks_.load && tells_load_) {
    if (auto load = hooks_.load()) *request.mutable_load() = *std::move(load);
  }
  for (const auto& lease : leases) {
    v1::LeaseProgress* const progress = request.add_leases();
    *progress = lease->Progress(tails->size() < kMostTails);
    if (!tells_progress_) progress->clear_progress();
    if (progress->has_log_end()) tails->push_back(lease);
  }
  return request;
}

// Removes the newest optional part of the request. Returns false if it has
// none.
bool LeaseKeeper::TellLess(v1::HeartbeatRequest& request) {
  if (tells_progress_ && request.leases_size() > 0) {
    tells_progress_ = false;
    for (auto& lease : *request.mutable_leases()) lease.clear_progress();
    return true;
  }
  if (!request.has_load()) return false;
  tells_load_ = false;
  request.clear_load();
  return true;
}

// Sends a heartbeat. If an earlier version of the coordinator has come back and
// refuses newer parts, it leaves them out, so that no lease is lost.
absl::StatusOr<v1::HeartbeatReply> LeaseKeeper::Tell(
    v1::HeartbeatRequest& request) {
  const Duration deadline =
      std::clamp(Interval(), kShortestDeadline, kLongestDeadline);
  auto reply = client_.Heartbeat(request, deadline);
  while (HasErrorId(reply.status(), ErrorId::kMethodNotBuilt) &&
         TellLess(request)) {
    reply = client_.Heartbeat(request, deadline);
  }
  return reply;
}

bool LeaseKeeper::Beat() {
  Leases leases = Held();
  // Begins with another lease each time, so that no log waits for ever behind
  // ten others.
  if (!leases.empty()) {
    std::rotate(leases.begin(),
                leases.begin() + sequence_ * std::ptrdiff_t{kMostTails} %
                                     static_cast<std::ptrdiff_t>(leases.size()),
                leases.end());
  }
  Leases tails;
  v1::HeartbeatRequest request = NextBeat(leases, &tails);
  const SteadyTime sent = clock_.Steady();
  const auto reply = Tell(request);
  if (reply.ok()) {
    NoteAnswer(*reply, leases, sent);
    hooks_.heard();
    return true;
  }
  for (const auto& lease : tails) lease->WantLog();
  if (HasErrorId(reply.status(), ErrorId::kWorkerUnknown)) {
    hooks_.unknown(sent);
  }
  Log(LogLevel::kDebug, "no_heartbeat",
      {{"cause", std::string(reply.status().message())}});
  return false;
}

void LeaseKeeper::NoteAnswer(const v1::HeartbeatReply& reply,
                             const Leases& leases, SteadyTime sent) {
  for (const v1::Directive& directive : reply.directives()) Obey(directive);
  bool is_listening = false;
  {
    const MutexLock lock(&mutex_);
    is_listening = is_listening_;
  }
  const auto& wanted = reply.want_log();
  for (const auto& lease : leases) {
    lease->Renewed(sent);
    const bool is_wanted =
        std::count(wanted.begin(), wanted.end(), lease->proof().trial()) > 0;
    if (is_wanted && !is_listening) lease->WantLog(kTailPause);
  }
}

}  // namespace frostline::agent
