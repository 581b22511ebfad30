// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/log_listener.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "proto/wire_time.h"
#include "worker/agent/predictions.h"

namespace frostline::agent {
namespace {

constexpr Duration kWait = std::chrono::seconds(25);
// Until somebody rings.
constexpr Duration kListenerSleep = std::chrono::hours(1);
// An empty answer before its time: the coordinator goes, or has another call.
constexpr Duration kEarly = std::chrono::seconds(1);
constexpr Duration kLongBackoff = std::chrono::seconds(5);
constexpr Duration kShortBackoff = std::chrono::milliseconds(500);
constexpr Duration kUntilUpgrade = std::chrono::minutes(1);

}  // namespace

LogListener::LogListener(RpcClient& client, const Clock& clock,
                         LeaseKeeper& keeper, std::string run_folder,
                         std::string worker_name, std::string boot_id)
    : client_(client),
      clock_(clock),
      keeper_(keeper),
      run_folder_(std::move(run_folder)),
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
  // Whose folder was cleaned since can say so.
  bool has_predictions = false;
  while (true) {
    has_predictions = has_predictions || HasPredictions(run_folder_);
    const bool listens = keeper_.HoldsAny() || has_predictions;
    const Duration pause = listens ? ListenOnce() : kListenerSleep;
    if (pause > Duration::zero()) wakeup_.WaitFor(pause);
    const MutexLock lock(&mutex_);
    if (stopped_) return;
  }
}

// One that cannot be sent is waited for in vain: who asked is told so.
void LogListener::SendPredictions(const v1::ListenReply& wishes) {
  for (const v1::PredictionsWish& wish : wishes.predictions()) {
    v1::SendPredictionsRequest answer = AnswerWish(run_folder_, wish);
    answer.set_worker(request_.worker());
    answer.set_boot_id(request_.boot_id());
    const auto sent = client_.SendPredictions(answer);
    Log(sent.ok() ? LogLevel::kInfo : LogLevel::kWarning, "predictions_sent",
        {{"trial", wish.trial()},
         {"set", wish.set()},
         {"bytes", absl::StrCat(answer.ByteSizeLong())},
         {"status", sent.ok() ? "ok" : std::string(sent.status().message())}});
  }
}

Duration LogListener::ListenOnce() {
  const SteadyTime asked = clock_.Steady();
  const auto reply = client_.Listen(request_);
  if (reply.ok()) {
    backoff_.Reset();
    request_.set_seen(reply->seen());
    keeper_.NoteWishes(*reply);
    SendPredictions(*reply);
    const bool is_early = reply->wishes_size() == 0 &&
                          reply->predictions_size() == 0 &&
                          clock_.Steady() - asked < kEarly;
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
