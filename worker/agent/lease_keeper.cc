// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace frostline::agent {
namespace {

constexpr double kSpread = 0.2;
constexpr Duration kShortestDeadline = std::chrono::seconds(1);
constexpr Duration kLongestDeadline = std::chrono::seconds(10);
// Of 64 KiB each, so that a beat keeps to the 1 MiB of a request.
constexpr std::size_t kMostTails = 10;
// Who follows a log asks with every answer.
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
  // Its first beat may be due before the next one is.
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

void LeaseKeeper::NoteDeafness() {
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
    // Where nobody answers, logs wait like all else.
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
  // Silence is asked about sooner than the next beat, but never in a herd.
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

// Leaves the newest part out that is there; false where there is none.
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

// An earlier coordinator may have come back in place of the one that took it
// all; no lease is lost by that.
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
  // Another one first each time: no log waits for ever behind ten others.
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
