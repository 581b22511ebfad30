// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/log_listener.h"

#include <functional>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "proto/wire_time.h"

namespace frostline::agent {
namespace {

constexpr Duration kWait = std::chrono::seconds(25);
// Until somebody rings.
constexpr Duration kLongSleep = std::chrono::hours(1);
// An empty answer before its time: the coordinator goes, or has another call.
constexpr Duration kEarly = std::chrono::seconds(1);
constexpr Duration kLongBackoff = std::chrono::seconds(5);
constexpr Duration kShortBackoff = std::chrono::milliseconds(500);
constexpr Duration kUntilUpgrade = std::chrono::minutes(1);

}  // namespace

LogListener::LogListener(RpcClient& client, const Clock& clock,
                         LeaseKeeper& keeper, std::string worker_name,
                         std::string boot_id)
    : client_(client),
      clock_(clock),
      keeper_(keeper),
      rng_(std::hash<std::string>()(boot_id)),
      backoff_(kShortBackoff, kLongBackoff) {
  request_.set_worker(std::move(worker_name));
  request_.set_boot_id(std::move(boot_id));
  *request_.mutable_wait() = proto::DurationToProto(kWait);
}

void LogListener::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void LogListener::Stop() {
  {
    const MutexLock lock(&mutex_);
    stopped_ = true;
  }
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void LogListener::Loop() {
  while (true) {
    const Duration pause = keeper_.HoldsAny() ? ListenOnce() : kLongSleep;
    if (pause > Duration::zero()) wakeup_.WaitFor(pause);
    const MutexLock lock(&mutex_);
    if (stopped_) return;
  }
}

Duration LogListener::ListenOnce() {
  const SteadyTime asked = clock_.Steady();
  const auto reply = client_.Listen(request_);
  if (reply.ok()) {
    backoff_.Reset();
    request_.set_seen(reply->seen());
    keeper_.NoteWishes(*reply);
    const bool is_early =
        reply->wishes_size() == 0 && clock_.Steady() - asked < kEarly;
    return is_early ? kShortBackoff : Duration::zero();
  }
  // Another coordinator may be there next time, with the same wishes.
  request_.clear_seen();
  keeper_.NoteDeafness();
  Log(LogLevel::kDebug, "not_listening",
      {{"cause", std::string(reply.status().message())}});
  return HasErrorId(reply.status(), ErrorId::kMethodNotBuilt)
             ? kUntilUpgrade
             : backoff_.Next(rng_);
}

}  // namespace frostline::agent
