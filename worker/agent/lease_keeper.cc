// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/lease_keeper.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/retry.h"

namespace frostline {
namespace {

constexpr double kSpread = 0.2;
constexpr Duration kShortestDeadline = std::chrono::seconds(1);
constexpr Duration kLongestDeadline = std::chrono::seconds(10);

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
      rng_(SeedOf(boot_id_)) {}

LeaseKeeper::~LeaseKeeper() { Stop(); }

void LeaseKeeper::Start(Duration interval, Duration ttl) {
  interval_ = interval;
  ttl_ = ttl;
  last_renewal_ = clock_.Steady();
  thread_ = std::thread([this] { Loop(); });
}

void LeaseKeeper::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
  }
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void LeaseKeeper::Hold(std::shared_ptr<HeldLease> lease) {
  const bool hurries = lease->heartbeat_interval() < Interval();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    leases_.push_back(std::move(lease));
  }
  // Its first beat may be due before the next one is.
  if (hurries) wakeup_.Ring();
}

void LeaseKeeper::LetGo(const std::shared_ptr<HeldLease>& lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  leases_.erase(std::remove(leases_.begin(), leases_.end(), lease),
                leases_.end());
}

void LeaseKeeper::Obey(const v1::Directive& directive) {
  for (const auto& lease : Leases()) lease->Obey(directive);
}

bool LeaseKeeper::in_doubt() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return in_doubt_;
}

std::vector<std::shared_ptr<HeldLease>> LeaseKeeper::Leases() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return leases_;
}

Duration LeaseKeeper::Interval() const {
  const std::lock_guard<std::mutex> lock(mutex_);
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
    if (heard) backoff.Reset();
    const Duration regular = Jitter(Interval(), kSpread, rng_);
    // Silence is asked about sooner than the next beat, but never in a herd.
    wakeup_.WaitFor(heard ? regular : std::min(regular, backoff.Next(rng_)));
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
  }
}

bool LeaseKeeper::Beat() {
  v1::HeartbeatRequest request;
  request.set_worker(worker_name_);
  request.set_boot_id(boot_id_);
  request.set_sequence(++sequence_);
  const auto leases = Leases();
  for (const auto& lease : leases) *request.add_leases() = lease->Progress();
  const SteadyTime sent = clock_.Steady();
  const auto reply = client_.Heartbeat(
      request, std::clamp(Interval(), kShortestDeadline, kLongestDeadline));
  if (reply.ok()) {
    NoteAnswer(*reply, sent);
    hooks_.heard();
    return true;
  }
  if (HasErrorId(reply.status(), ErrorId::kWorkerUnknown)) {
    hooks_.unknown(sent);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!in_doubt_ && !stopped_ && clock_.Steady() - last_renewal_ > ttl_) {
    in_doubt_ = true;
    Log(LogLevel::kWarning, "leases_in_doubt",
        {{"held", absl::StrCat(leases_.size())},
         {"cause", std::string(reply.status().message())}});
  }
  return false;
}

void LeaseKeeper::NoteAnswer(const v1::HeartbeatReply& reply, SteadyTime sent) {
  for (const v1::Directive& directive : reply.directives()) Obey(directive);
  for (const auto& lease : Leases()) {
    const auto& wanted = reply.want_log();
    if (std::count(wanted.begin(), wanted.end(), lease->proof().trial()) > 0) {
      lease->WantLog();
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  last_renewal_ = sent;
  if (in_doubt_) Log(LogLevel::kInfo, "coordinator_back");
  in_doubt_ = false;
}

}  // namespace frostline
