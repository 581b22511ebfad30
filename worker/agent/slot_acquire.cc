// SPDX-License-Identifier: Apache-2.0
//
// A slot between two trials.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "proto/wire_time.h"
#include "worker/agent/slot.h"

namespace frostline::agent {
namespace {

constexpr Duration kLongestAcquireWait = std::chrono::seconds(30);
constexpr Duration kShortestWait = std::chrono::seconds(1);
// At the end, for what a call that was given up may have been granted.
constexpr Duration kLastQuestion = std::chrono::seconds(2);
constexpr Duration kFirstAcquirePause = std::chrono::milliseconds(200);
constexpr Duration kLongestAcquirePause = std::chrono::seconds(10);
constexpr Duration kFirstStartPause = std::chrono::seconds(1);
constexpr Duration kLongestStartPause = std::chrono::seconds(60);

}  // namespace

Slot::Slot(SlotContext& context, int number, SlotEnvironment environment)
    : context_(context),
      number_(number),
      rng_(std::hash<std::string>()(context.boot_id),
           static_cast<std::uint64_t>(number)),
      pause_(kFirstAcquirePause, kLongestAcquirePause),
      start_pause_(kFirstStartPause, kLongestStartPause),
      trainer_(context, number, std::move(environment), wakeup_, log_) {
  context_.stop.Notify(&wakeup_);
}

Slot::~Slot() {
  Join();
  context_.stop.Forget(&wakeup_);
}

void Slot::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Slot::Join() {
  if (thread_.joinable()) thread_.join();
}

void Slot::Loop() {
  while (!retired_) {
    const auto lease = NextLease();
    if (!lease.has_value()) break;
    FROSTLINE_FAILPOINT(kAgentAcquired);
    RunTrial(*lease);
    if (trainer_.IsHeldUp()) retired_ = !trainer_.AwaitLateEnd();
    context_.janitor.Ring();
  }
  if (retired_) context_.slot_retired();
  trainer_.End();
}

std::optional<v1::Lease> Slot::NextLease() {
  v1::AcquireRequest request;
  request.set_worker(context_.worker_name);
  request.set_boot_id(context_.boot_id);
  request.set_max_leases(1);
  if (!context_.options.study.empty()) {
    request.set_study(StudyNameOf(context_.options.study));
  }
  bool keep_id = false;
  bool given_up = false;
  while (context_.stop.level() == StopLevel::kRun && !EndIfIdle()) {
    // A repeated id must come with an equal request.
    if (!keep_id) {
      request.set_request_id(NewRequestId(context_.clock));
      *request.mutable_wait() = proto::DurationToProto(LongestWait());
    }
    auto lease = Ask(request, &keep_id);
    given_up = keep_id;
    if (!lease.has_value()) continue;
    if (context_.stop.level() == StopLevel::kRun) return lease;
    HandBack(*lease);
  }
  if (given_up) TakeBack(std::move(request));
  return std::nullopt;
}

void Slot::TakeBack(v1::AcquireRequest request) {
  // The same id gets the same answer; a wait would be parked again.
  *request.mutable_wait() = proto::DurationToProto(Duration::zero());
  const SteadyTime until = context_.clock.Steady() + kLastQuestion;
  Backoff backoff(kFirstAcquirePause, kFirstAcquirePause);
  while (true) {
    const auto reply = context_.client.AcquireNow(request);
    if (reply.ok()) {
      for (const v1::Lease& lease : reply->leases()) HandBack(lease);
      return;
    }
    const bool hurries = context_.stop.level() == StopLevel::kNow;
    if (hurries || !WorthRetrying(reply.status()) ||
        context_.clock.Steady() >= until) {
      return;
    }
    wakeup_.WaitFor(backoff.Next(rng_));
  }
}

std::optional<v1::Lease> Slot::Ask(const v1::AcquireRequest& request,
                                   bool* keep_id) {
  const SteadyTime sent = context_.clock.Steady();
  acquire_sent_ = sent;
  const auto reply = context_.client.Acquire(request);
  if (!reply.ok()) {
    ConsiderError(reply.status(), sent, keep_id);
    return std::nullopt;
  }
  *keep_id = false;
  const bool parked = context_.clock.Steady() - sent >= kShortestWait;
  // Who was parked has waited; only quick answers are asked for ever less
  // often.
  if (parked || reply->leases_size() > 0) pause_.Reset();
  if (reply->leases_size() > 0) return reply->leases(0);
  ConsiderNone(*reply);
  return std::nullopt;
}

void Slot::ConsiderNone(const v1::AcquireReply& reply) {
  if (reply.none_reason() != last_reason_) {
    last_reason_ = reply.none_reason();
    const bool quarantined = last_reason_ == v1::QUARANTINED;
    Log(quarantined ? LogLevel::kWarning : LogLevel::kInfo, "no_trial",
        {{"reason", v1::NoneReason_Name(last_reason_)},
         {"detail", reply.none_detail()},
         {"slot", absl::StrCat(number_)}});
  }
  if (reply.none_reason() == v1::STUDY_ENDED &&
      context_.options.exit_when_done) {
    context_.stop.Raise(StopLevel::kDone, kExitOk, "the study has ended");
    return;
  }
  wakeup_.WaitFor(std::max(proto::DurationFromProto(reply.retry_after()),
                           pause_.Next(rng_)));
}

void Slot::ConsiderError(const absl::Status& status, SteadyTime sent,
                         bool* keep_id) {
  // The reply may have been lost after the grant: then the same id gets it.
  *keep_id = WorthRetrying(status);
  if (context_.stop.level() != StopLevel::kRun) return;
  if (HasErrorId(status, ErrorId::kWorkerUnknown)) {
    context_.register_again(sent);
  }
  if (HasErrorId(status, ErrorId::kStudyNotFound) &&
      context_.options.exit_when_done) {
    Log(LogLevel::kError, "study_not_found",
        {{"study", context_.options.study}});
    context_.stop.Raise(StopLevel::kDone, kExitNotFound, "no such study");
    return;
  }
  Log(LogLevel::kWarning, "no_answer",
      {{"cause", std::string(status.message())},
       {"slot", absl::StrCat(number_)}});
  wakeup_.WaitFor(pause_.Next(rng_));
}

Duration Slot::LongestWait() const {
  if (context_.options.idle_timeout == Duration::zero())
    return kLongestAcquireWait;
  return std::clamp(context_.options.idle_timeout, kShortestWait,
                    kLongestAcquireWait);
}

bool Slot::EndIfIdle() {
  const Duration limit = context_.options.idle_timeout;
  if (limit == Duration::zero() || context_.busy > 0) return false;
  const Duration idle =
      context_.clock.Steady() - SteadyTime(context_.idle_since);
  if (idle < limit) return false;
  context_.stop.Raise(StopLevel::kDone, kExitOk, "no trial for long enough");
  return true;
}

}  // namespace frostline::agent
