// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/deliverer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "base/log.h"
#include "proto/wire_error.h"

namespace frostline::agent {
namespace {

constexpr Duration kFirstDeliveryPause = std::chrono::milliseconds(500);
constexpr Duration kLongestDeliveryPause = std::chrono::seconds(30);
constexpr Duration kCourierSleep = std::chrono::hours(1);
constexpr std::size_t kMaxCause = 4000;

v1::Directive LostDirective(const v1::LeaseRef& lease,
                            const absl::Status& status) {
  v1::Directive directive;
  directive.set_trial(lease.trial());
  directive.set_attempt(lease.attempt());
  directive.set_action(v1::Directive::LEASE_LOST);
  directive.set_reason(std::string(status.message()));
  return directive;
}

// Returns the failure that takes the place of an ending with refused metrics.
v1::FinishRequest RefusedFinish(const v1::FinishRequest& finish,
                                const absl::Status& refusal) {
  v1::FinishRequest failed;
  *failed.mutable_lease() = finish.lease();
  failed.mutable_outcome()->set_kind(v1::Outcome::FAILED);
  failed.mutable_outcome()->set_failure(v1::FAILURE_CLASS_TRIAL);
  failed.mutable_outcome()->set_cause(
      proto::CleanText(absl::StrCat("the coordinator refused the result: ",
                                    std::string(refusal.message())),
                       kMaxCause));
  return failed;
}

void ReachSent(const SpoolRecord& record) {
  if (std::holds_alternative<v1::ReportRequest>(record)) {
    FROSTLINE_FAILPOINT(kAgentReportSent);
  } else if (std::holds_alternative<v1::FinishRequest>(record)) {
    FROSTLINE_FAILPOINT(kAgentFinishSent);
  } else {
    FROSTLINE_FAILPOINT(kAgentReleaseSent);
  }
}

}  // namespace

Deliverer::Deliverer(RpcClient& client, std::string rejected_folder,
                     DirectiveHook directive, FinishHook finished)
    : client_(client),
      rejected_folder_(std::move(rejected_folder)),
      directive_(std::move(directive)),
      finished_(std::move(finished)) {}

Deliverer::~Deliverer() { Stop(); }

void Deliverer::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void Deliverer::Stop() {
  stopped_ = true;
  wakeup_.Ring();
  if (thread_.joinable()) thread_.join();
}

void Deliverer::Adopt(std::shared_ptr<Outbox> outbox) {
  const MutexLock lock(&mutex_);
  outboxes_.push_back(std::move(outbox));
  wakeup_.Ring();
}

void Deliverer::Ring() { wakeup_.Ring(); }

void Deliverer::EndPause() {
  pause_is_over_ = true;
  wakeup_.Ring();
}

bool Deliverer::idle() const {
  const MutexLock lock(&mutex_);
  return std::all_of(outboxes_.begin(), outboxes_.end(),
                     [](const auto& outbox) { return outbox->done(); });
}

void Deliverer::Loop() {
  Backoff backoff(kFirstDeliveryPause, kLongestDeliveryPause);
  // The seed is the time: agents must differ, and nothing here is replayed.
  Rng rng(static_cast<std::uint64_t>(SystemClock().Steady().count()));
  const SystemClock clock;
  while (!stopped_) {
    pause_is_over_ = false;
    if (DeliverAll()) {
      backoff.Reset();
      wakeup_.WaitFor(kCourierSleep);
      continue;
    }
    // New reports do not shorten the pause; a sign of life does.
    const SteadyTime until = clock.Steady() + backoff.Next(rng);
    while (!stopped_ && !pause_is_over_ && clock.Steady() < until) {
      wakeup_.WaitFor(until - clock.Steady());
    }
  }
}

// Returns false if the coordinator could not take something now.
bool Deliverer::DeliverAll() {
  const SystemClock clock;
  std::set<const Outbox*> failed;
  SteadyTime first_failure{};
  while (!stopped_) {
    const std::shared_ptr<Outbox> next = Next(failed);
    if (next == nullptr) break;
    if (!Deliver(*next) && failed.insert(next.get()).second &&
        failed.size() == 1) {
      first_failure = clock.Steady();
    }
    // Others may always have more to say, but the failed one has to be tried
    // again.
    const bool is_over =
        !failed.empty() && clock.Steady() - first_failure > kFirstDeliveryPause;
    if (is_over) break;
  }
  return failed.empty();
}

// Looks at all outboxes again each time, since records come meanwhile.
std::shared_ptr<Outbox> Deliverer::Next(const std::set<const Outbox*>& failed) {
  const MutexLock lock(&mutex_);
  std::erase_if(outboxes_, [](const auto& outbox) { return outbox->done(); });
  std::size_t next = outboxes_.size();
  for (std::size_t i = 0; i < outboxes_.size(); ++i) {
    const std::size_t place = (turn_ + 1 + i) % outboxes_.size();
    const std::shared_ptr<Outbox>& outbox = outboxes_[place];
    if (failed.contains(outbox.get())) continue;
    if (outbox->FrontIsEnding()) return outbox;
    const bool is_first = next == outboxes_.size();
    if (is_first && outbox->Front().has_value()) next = place;
  }
  if (next == outboxes_.size()) return nullptr;
  turn_ = next;
  return outboxes_[next];
}

bool Deliverer::Deliver(Outbox& outbox) {
  const std::optional<SpoolRecord> front = outbox.Front();
  if (!front.has_value()) return true;  // its slot has just abandoned it
  const SpoolRecord& record = *front;
  const absl::Status status = Send(outbox, record);
  if (status.ok()) {
    ReachSent(record);
    outbox.PopFront();
    return true;
  }
  // A denied record stays in the spool, for a process with better credentials.
  if (WorthRetrying(status) || IsDenied(status)) {
    Log(LogLevel::kDebug, "not_delivered",
        {{"trial", outbox.lease().trial()},
         {"cause", std::string(status.message())}});
    return false;
  }
  Settle(outbox, record, status);
  return true;
}

absl::Status Deliverer::Send(Outbox& outbox, const SpoolRecord& record) {
  if (const auto* report = std::get_if<v1::ReportRequest>(&record)) {
    const auto reply = client_.Report(*report);
    if (reply.ok()) directive_(reply->directive());
    return reply.status();
  }
  if (const auto* release = std::get_if<v1::ReleaseRequest>(&record)) {
    return client_.Release(*release).status();
  }
  const auto& finish = std::get<v1::FinishRequest>(record);
  const auto reply = client_.Finish(finish);
  if (!reply.ok()) return reply.status();
  finished_(finish, *reply);
  outbox.NoteVerdict(reply->verdict());
  return absl::OkStatus();
}

void Deliverer::Settle(Outbox& outbox, const SpoolRecord& record,
                       const absl::Status& refusal) {
  Log(LogLevel::kWarning, "refused",
      {{"trial", outbox.lease().trial()},
       {"attempt", absl::StrCat(outbox.lease().attempt())},
       {"cause", std::string(refusal.message())}});
  const bool lost = HasErrorId(refusal, ErrorId::kLeaseLost);
  if (std::holds_alternative<v1::ReportRequest>(record)) {
    if (lost) directive_(LostDirective(outbox.lease(), refusal));
    if (lost) return outbox.DropReports();
    // Only the refused one of several measurements is dropped.
    if (outbox.SplitFront()) return;
    // The attempt has its full number of steps: all later ones would be
    // refused.
    if (HasErrorId(refusal, ErrorId::kFieldTooLarge)) return outbox.EndCurve();
    outbox.PopFront();
    return;
  }
  const auto* finish = std::get_if<v1::FinishRequest>(&record);
  const bool bad_metrics = finish != nullptr &&
                           finish->outcome().kind() != v1::Outcome::FAILED &&
                           refusal.code() == absl::StatusCode::kInvalidArgument;
  if (bad_metrics) {
    outbox.ReplaceFront(RefusedFinish(*finish, refusal));
  } else {
    if (finish != nullptr) finished_(*finish, {});
    outbox.Abandon(rejected_folder_);
  }
}

}  // namespace frostline::agent
