// SPDX-License-Identifier: Apache-2.0
//
// Acquire: answered before, parked, or told why there is nothing. What is
// granted is granted in turn.cc. On the loop.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/coordinator_impl.h"
#include "server/wire/convert.h"

namespace frostline {

std::uint64_t Coordinator::Impl::HashAcquire(v1::AcquireRequest request) {
  // A worker that is about to go asks again without waiting.
  request.clear_wait();
  request.clear_held_prefixes();
  return HashRequest(request);
}

void Coordinator::Impl::StartAcquire(v1::AcquireRequest request,
                                     CancelFlag cancelled,
                                     Reply<v1::AcquireReply> reply) {
  auto shared = std::make_shared<Reply<v1::AcquireReply>>(std::move(reply));
  PostCall(
      [this, shared, request = std::move(request),
       cancelled = std::move(cancelled)](Batch& batch) mutable {
        absl::StatusOr<std::optional<v1::AcquireReply>> before =
            AcquiredBefore(request);
        if (before.ok() && !before->has_value()) {
          ParkedAcquire parked;
          parked.worker = *ParseWorkerName(request.worker());
          parked.deadline =
              clock_.Steady() + std::min(DurationFromProto(request.wait()),
                                         options_.longest_wait);
          parked.cancelled = std::move(cancelled);
          parked.reply = std::move(*shared);
          parked.request = std::move(request);
          return Park(batch, std::move(parked));
        }
        batch.Then([shared, before = std::move(before)](
                       const absl::Status& committed) mutable {
          if (!committed.ok()) return (*shared)(committed);
          if (!before.ok()) return (*shared)(before.status());
          (*shared)(std::move(**before));
        });
      },
      [&shared](const absl::Status& refused) { (*shared)(refused); });
}

// Answered in this turn when there is a trial, or no wait.
void Coordinator::Impl::Park(Batch& batch, ParkedAcquire parked) {
  const auto expected = expected_.find(parked.worker);
  if (expected != expected_.end()) {
    expected->second.slots -= parked.request.max_leases();
    if (expected->second.slots <= 0) expected_.erase(expected);
  }
  // Sent again while the first is still parked: that one's caller is gone, and
  // must not be leased anything.
  TurnAway(batch, parked.worker, [&parked](const ParkedAcquire& earlier) {
    return earlier.request.request_id() == parked.request.request_id();
  });
  if (WaitsForNothing(parked.request)) return AnswerNone(batch, parked);
  parked_.Enter(std::move(parked));
}

bool Coordinator::Impl::WaitsForNothing(
    const v1::AcquireRequest& request) const {
  if (request.study().empty()) return false;
  const auto id = ParseStudyName(request.study());
  const auto key = id.ok() ? key_of_study_.find(*id) : key_of_study_.end();
  if (key == key_of_study_.end()) return true;
  const StudyState state = studies_.at(key->second).row().state;
  return state != StudyState::kActive && state != StudyState::kPaused;
}

absl::StatusOr<std::optional<v1::AcquireReply>>
Coordinator::Impl::AcquiredBefore(const v1::AcquireRequest& request) {
  ASSIGN_OR_RETURN(WorkerEntry * worker,
                   workers_.Require(request.worker(), request.boot_id()));
  worker->row.last_seen = clock_.Wall();
  if (!request.study().empty()) {
    RETURN_IF_ERROR(FindStudy(request.study()).status());
  }
  ASSIGN_OR_RETURN(
      const std::optional<std::string> stored,
      FindReply(request.request_id(), "Acquire", HashAcquire(request)));
  if (!stored.has_value()) return std::optional<v1::AcquireReply>();
  v1::AcquireReply names;
  names.ParseFromString(*stored);
  v1::AcquireReply again;
  for (const v1::Lease& name : names.leases()) {
    ASSIGN_OR_RETURN(*again.add_leases(), LeaseAgain(name));
  }
  return std::optional<v1::AcquireReply>(std::move(again));
}

// As it was granted, whatever has become of it since.
absl::StatusOr<v1::Lease> Coordinator::Impl::LeaseAgain(const v1::Lease& name) {
  v1::LeaseRef ref;
  ref.set_trial(name.trial());
  ref.set_attempt(name.attempt());
  ASSIGN_OR_RETURN(const Leased leased, FindLeased(ref));
  const AttemptRow& attempt = leased.claimed.value_or(leased.trial.attempt);
  TrialRow row = leased.trial.row;
  row.attempt = attempt.attempt;
  row.secret = attempt.secret;
  return LeaseToProto(row, attempt, leased.book->row().id,
                      leased.book->checked());
}

void Coordinator::Impl::TurnAway(
    Batch& batch, const std::string& worker,
    absl::FunctionRef<bool(const ParkedAcquire&)> leaves) {
  for (ParkedAcquire& parked : parked_.Take(worker, leaves)) {
    AnswerNone(batch, parked);
  }
}

v1::AcquireReply Coordinator::Impl::NothingFor(const ParkedAcquire& parked) {
  v1::AcquireReply reply;
  *reply.mutable_retry_after() =
      DurationToProto(std::chrono::milliseconds(200));
  const auto say = [&reply](v1::NoneReason reason, const std::string& detail) {
    reply.set_none_reason(reason);
    reply.set_none_detail(detail);
    return reply;
  };
  if (draining_) return say(v1::DRAINING, "the coordinator is shutting down");
  const WorkerEntry* const worker = workers_.Find(parked.worker);
  if (worker == nullptr || worker->row.boot_id != parked.request.boot_id()) {
    return say(v1::DRAINING, "the worker has registered anew");
  }
  if (worker->row.state == WorkerState::kDraining) {
    return say(v1::DRAINING, "this worker is drained");
  }
  if (worker->row.state == WorkerState::kQuarantined) {
    return say(
        v1::QUARANTINED,
        absl::StrCat(worker->row.failures_in_a_row,
                     " failures in a row; mend what their causes say, then "
                     "frostline worker drain ID --undo, or start it "
                     "again"));
  }
  // The reason nearest to getting a trial wins.
  v1::NoneReason reason = v1::NO_STUDY;
  std::string detail = "no study is active";
  for (const auto& [key, book] : studies_) {
    const std::string name = StudyNameOf(book.row().id);
    const bool only = parked.request.study() == name;
    if (!parked.request.study().empty() && !only) continue;
    const StudyState state = book.row().state;
    const auto consider = [&](v1::NoneReason candidate, std::string why) {
      if (candidate <= reason && reason != v1::NO_STUDY) return;
      reason = candidate;
      detail = std::move(why);
    };
    if (state == StudyState::kPaused) {
      consider(v1::STUDY_PAUSED, name + " is paused");
    } else if (state != StudyState::kActive) {
      if (only)
        return say(v1::STUDY_ENDED, name + ": " + book.row().state_reason);
    } else if (!CarriesLabels(
                   worker->info,
                   book.checked().settings.required_worker_labels())) {
      consider(v1::NO_MATCHING_LABELS,
               name + " asks for labels this worker does not carry");
    } else if (room_.room == Room::kNoNewLeases) {
      consider(v1::DISK_NEARLY_FULL, "the coordinator's disk is nearly full");
    } else if (book.AtParallelLimit()) {
      consider(v1::PARALLEL_LIMIT, name + " runs max_parallel trials");
    } else if (book.reserved() > 0) {
      consider(v1::SAMPLER_BUSY, name + " is proposing");
    } else {
      consider(v1::BUDGET_REACHED,
               absl::StrCat(name, ": all trials are ended or leased, ",
                            book.Count(TrialState::kRunning), " running"));
    }
  }
  return say(reason, detail);
}

}  // namespace frostline
