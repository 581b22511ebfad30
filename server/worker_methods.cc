// SPDX-License-Identifier: Apache-2.0
//
// The verbs of workers. On the loop.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/log.h"
#include "server/convert.h"
#include "server/coordinator_impl.h"
#include "server/filter.h"
#include "server/load_history.h"
#include "server/page_token.h"

namespace frostline {
namespace {

constexpr int kMostMetrics = 64;
constexpr int kMostMeasurements = 1'000;

absl::Status NothingMore(Transaction&) { return absl::OkStatus(); }

v1::Directive DirectiveFor(const v1::LeaseRef& lease,
                           v1::Directive::Action action,
                           const std::string& reason) {
  v1::Directive directive;
  directive.set_trial(lease.trial());
  directive.set_attempt(lease.attempt());
  directive.set_action(action);
  directive.set_reason(reason);
  return directive;
}

// Rows for the store; STEP_OUT_OF_ORDER unless the steps rise.
absl::StatusOr<std::vector<MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const TrialRow& row, std::int64_t attempt) {
  if (measurements.size() > kMostMeasurements) {
    return MakeError(ErrorId::kFieldTooLarge,
                     absl::StrCat(measurements.size(), " measurements at once"),
                     absl::StrCat("send at most ", kMostMeasurements),
                     "measurements");
  }
  std::vector<MeasurementRow> rows;
  for (const v1::Measurement& proto : measurements) {
    const std::string field = absl::StrCat("measurements[", rows.size(), "]");
    if (proto.metrics_size() > kMostMetrics) {
      return MakeError(ErrorId::kFieldTooLarge,
                       absl::StrCat(proto.metrics_size(), " metrics in a step"),
                       absl::StrCat("send at most ", kMostMetrics),
                       field + ".metrics");
    }
    const bool rises = rows.empty()
                           ? proto.step() >= 0
                           : proto.step() > rows.back().measurement.step;
    if (!rises) {
      return MakeError(
          ErrorId::kStepOutOfOrder,
          absl::StrCat("step ", proto.step(), " comes after step ",
                       rows.empty() ? -1 : rows.back().measurement.step),
          "number the steps of an attempt upwards from 0", field + ".step");
    }
    rows.push_back(
        {row.study, row.number, attempt, MeasurementFromProto(proto)});
  }
  return rows;
}

}  // namespace

absl::StatusOr<v1::RegisterReply> Coordinator::Impl::Register(
    Batch& batch, const v1::RegisterRequest& request) {
  RETURN_IF_ERROR(CheckId(request.worker_id(), "worker_id"));
  if (request.worker().boot_id().empty()) {
    return MakeError(ErrorId::kRequestInvalid, "the worker has no boot id",
                     "draw one at each start of the agent", "worker.boot_id");
  }
  WorkerEntry* const known = workers_.Find(request.worker_id());
  WorkerRow row;
  if (known != nullptr) row = known->row;
  const bool new_life = row.boot_id != request.worker().boot_id();
  row.id = request.worker_id();
  row.boot_id = request.worker().boot_id();
  row.info = request.worker().SerializeAsString();
  row.last_seen = clock_.Wall();
  if (row.registered == 0) row.registered = row.last_seen;
  if (new_life) {
    row.state = WorkerState::kActive;
    row.failures_in_a_row = 0;
  }
  RETURN_IF_ERROR(batch.Write(
      [&row](Transaction& transaction) { return transaction.PutWorker(row); }));
  v1::RegisterReply reply;
  if (known != nullptr && new_life) {
    const std::set<TrialKey> held = known->holds;
    for (const TrialKey& trial : held) {
      StudyBook& book = studies_.at(trial.study);
      RETURN_IF_ERROR(
          Persist(batch, book,
                  Lose(*book.Find(trial.number), "the worker was started again",
                       book.checked().lease.retry, clock_.Wall()),
                  NothingMore));
      reply.add_own_trials(TrialNameOf(book.row().id, trial.number));
    }
  }
  const WorkerEntry& entry = workers_.Absorb(row);
  *reply.mutable_worker() = Describe(entry);
  *reply.mutable_heartbeat_interval() =
      ToProtoDuration(options_.heartbeat_interval);
  *reply.mutable_lease_ttl() = ToProtoDuration(options_.lease_ttl);
  reply.set_coordinator_version(FROSTLINE_VERSION);
  reply.set_max_request_bytes(1 << 20);
  return reply;
}

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
  const bool posted =
      loop_.Post([this, shared, request = std::move(request),
                  cancelled = std::move(cancelled)](Batch& batch) mutable {
        absl::StatusOr<std::optional<v1::AcquireReply>> before =
            AcquiredBefore(request);
        if (before.ok() && !before->has_value()) {
          ParkedAcquire parked;
          parked.worker = *ParseWorkerName(request.worker());
          parked.deadline =
              clock_.Steady() + std::min(FromProtoDuration(request.wait()),
                                         options_.longest_wait);
          parked.cancelled = std::move(cancelled);
          parked.reply = std::move(*shared);
          parked.request = std::move(request);
          // Answered in this turn when there is a trial, or no wait.
          parked_.Enter(std::move(parked));
          return;
        }
        batch.Then([shared, before = std::move(before)](
                       const absl::Status& committed) mutable {
          if (!committed.ok()) return (*shared)(committed);
          if (!before.ok()) return (*shared)(before.status());
          (*shared)(std::move(**before));
        });
      });
  if (!posted) (*shared)(DrainingError());
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
  v1::AcquireReply again;
  again.ParseFromString(*stored);
  return std::optional<v1::AcquireReply>(std::move(again));
}

v1::AcquireReply Coordinator::Impl::NothingFor(const ParkedAcquire& parked) {
  v1::AcquireReply reply;
  *reply.mutable_retry_after() =
      ToProtoDuration(std::chrono::milliseconds(200));
  const auto say = [&reply](v1::NoneReason reason, const std::string& detail) {
    reply.set_none_reason(reason);
    reply.set_none_detail(detail);
    return reply;
  };
  const WorkerEntry* const worker = workers_.Find(parked.worker);
  if (draining_) return say(v1::DRAINING, "the coordinator is shutting down");
  if (worker->row.state == WorkerState::kDraining) {
    return say(v1::DRAINING, "this worker is drained");
  }
  if (worker->row.state == WorkerState::kQuarantined) {
    return say(v1::QUARANTINED,
               absl::StrCat(worker->row.failures_in_a_row,
                            " failures in a row; see the trials' causes"));
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

absl::StatusOr<Coordinator::Impl::Leased> Coordinator::Impl::FindLeased(
    const v1::LeaseRef& lease) {
  Leased leased;
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(lease.trial()));
  ASSIGN_OR_RETURN(leased.book, FindStudy(StudyNameOf(name.study_id)));
  leased.proof = {lease.attempt(), SecretString(lease.secret())};
  const StudyKey key = leased.book->row().key;
  const OpenTrial* const found = leased.book->Find(name.number);
  if (found != nullptr) {
    leased.trial = *found;
    if (lease.attempt() == found->row.attempt) return leased;
  } else {
    ASSIGN_OR_RETURN(leased.trial.row, store_.FindTrial(key, name.number));
  }
  ASSIGN_OR_RETURN(const std::vector<AttemptRow> attempts,
                   store_.ListAttempts(key, name.number));
  for (const AttemptRow& attempt : attempts) {
    const bool newest = attempt.attempt == leased.trial.row.attempt;
    if (newest && found == nullptr) leased.trial.attempt = attempt;
    if (!newest && attempt.attempt == lease.attempt()) leased.claimed = attempt;
  }
  return leased;
}

absl::StatusOr<v1::HeartbeatReply> Coordinator::Impl::Heartbeat(
    Batch& batch, const v1::HeartbeatRequest& request) {
  ASSIGN_OR_RETURN(WorkerEntry * worker,
                   workers_.Require(request.worker(), request.boot_id()));
  worker->row.last_seen = clock_.Wall();
  v1::HeartbeatReply reply;
  reply.set_drain(worker->row.state == WorkerState::kDraining);
  for (const v1::LeaseProgress& progress : request.leases()) {
    *reply.add_directives() = Renew(batch, progress.lease(), reply.drain());
  }
  return reply;
}

absl::StatusOr<Coordinator::Impl::Leased> Coordinator::Impl::FindHeld(
    Batch& batch, const v1::LeaseRef& lease) {
  ASSIGN_OR_RETURN(Leased leased, FindLeased(lease));
  std::optional<Transition> again = Reinstate(leased.trial, leased.proof);
  if (!again.has_value()) return leased;
  RETURN_IF_ERROR(Persist(batch, *leased.book, *std::move(again), NothingMore));
  return FindLeased(lease);
}

v1::Directive Coordinator::Impl::Renew(Batch& batch, const v1::LeaseRef& lease,
                                       bool drain) {
  const absl::StatusOr<Leased> leased = FindHeld(batch, lease);
  if (!leased.ok()) {
    return DirectiveFor(lease, v1::Directive::LEASE_LOST,
                        std::string(leased.status().message()));
  }
  const TrialRow& row = leased->trial.row;
  const bool cancelled =
      row.state == TrialState::kCancelled && row.attempt == lease.attempt();
  if (cancelled) {
    return DirectiveFor(lease, v1::Directive::STOP_CANCELLED, row.cause);
  }
  const absl::Status held = CheckLease(row, leased->proof);
  if (!held.ok()) {
    return DirectiveFor(lease, v1::Directive::LEASE_LOST,
                        std::string(held.message()));
  }
  const TrialKey trial{row.study, row.number};
  leases_.Set(trial, clock_.Steady() + leased->book->checked().lease.ttl);
  if (drain) {
    return DirectiveFor(lease, v1::Directive::CHECKPOINT_AND_RELEASE,
                        "the worker is drained");
  }
  const auto pruned = prune_wanted_.find(trial);
  if (pruned != prune_wanted_.end() && pruned->second.first == row.attempt) {
    return DirectiveFor(lease, v1::Directive::STOP_PRUNED,
                        pruned->second.second);
  }
  return DirectiveFor(lease, v1::Directive::CONTINUE, "");
}

absl::Status Coordinator::Impl::CheckOrder(
    const Leased& leased, const std::vector<MeasurementRow>& rows) const {
  const TrialRow& row = leased.trial.row;
  for (const MeasurementRow& measured : rows) {
    if (measured.measurement.step > row.last_step) break;
    // Not new, so it must be a repetition.
    ASSIGN_OR_RETURN(
        const std::vector<Measurement> stored,
        store_.ListMeasurements({.study = row.study,
                                 .number = row.number,
                                 .attempt = row.attempt,
                                 .after_step = measured.measurement.step - 1,
                                 .limit = 1}));
    const bool repeated =
        !stored.empty() && stored[0].step == measured.measurement.step;
    // Reported in this very group: the store will compare.
    const bool unread = stored.empty();
    if (!repeated && !unread) {
      return MakeError(ErrorId::kStepOutOfOrder,
                       absl::StrCat("step ", measured.measurement.step,
                                    " comes after step ", row.last_step),
                       "number the steps of an attempt upwards",
                       "measurements.step");
    }
  }
  return absl::OkStatus();
}

void Coordinator::Impl::StartReport(v1::ReportRequest request,
                                    Reply<v1::ReportReply> reply) {
  auto shared = std::make_shared<Reply<v1::ReportReply>>(std::move(reply));
  const bool posted = loop_.Post([this, shared,
                                  request = std::move(request)](Batch& batch) {
    absl::StatusOr<TrialKey> trial = Report(batch, request);
    const v1::Directive directive =
        trial.ok() ? Renew(batch, request.lease(), false) : v1::Directive();
    batch.Then([this, shared, directive, trial](const absl::Status& committed) {
      if (!committed.ok()) return (*shared)(committed);
      if (!trial.ok()) return (*shared)(trial.status());
      AnswerReport(*trial, directive, shared);
    });
  });
  if (!posted) (*shared)(DrainingError());
}

absl::StatusOr<TrialKey> Coordinator::Impl::Report(
    Batch& batch, const v1::ReportRequest& request) {
  ASSIGN_OR_RETURN(const Leased leased, FindHeld(batch, request.lease()));
  TrialRow row = leased.trial.row;
  RETURN_IF_ERROR(CheckLease(row, leased.proof));
  ASSIGN_OR_RETURN(const std::vector<MeasurementRow> rows,
                   MeasurementRows(request.measurements(), row, row.attempt));
  RETURN_IF_ERROR(CheckOrder(leased, rows));
  Transition transition;
  transition.guard = {row.state, row.attempt, leased.proof.secret};
  std::vector<Measurement> fresh;
  for (const MeasurementRow& measured : rows) {
    if (measured.measurement.step <= row.last_step) continue;
    row.last_step = measured.measurement.step;
    fresh.push_back(measured.measurement);
  }
  if (request.has_checkpoint()) {
    AttemptRow attempt = leased.trial.attempt;
    attempt.checkpoint = request.checkpoint().SerializeAsString();
    transition.attempts = {std::move(attempt)};
  }
  transition.row = row;
  RETURN_IF_ERROR(Persist(batch, *leased.book, std::move(transition),
                          [&rows](Transaction& transaction) {
                            return transaction.AddMeasurements(rows);
                          }));
  const TrialKey trial{row.study, row.number};
  leases_.Set(trial, clock_.Steady() + leased.book->checked().lease.ttl);
  proposer_.Measured(row.study, row.number,
                     IntermediateOf(fresh, leased.book->checked()));
  return trial;
}

// The directive rides on the reply: when the study prunes, the judgement of
// just this report.
void Coordinator::Impl::AnswerReport(
    TrialKey trial, const v1::Directive& directive,
    std::shared_ptr<Reply<v1::ReportReply>> reply) {
  const auto answer = [reply](const v1::Directive& what) {
    v1::ReportReply message;
    *message.mutable_directive() = what;
    (*reply)(std::move(message));
  };
  const auto found = studies_.find(trial.study);
  const bool prunes =
      found != studies_.end() && found->second.checked().pruner.name != "none";
  if (!prunes || directive.action() != v1::Directive::CONTINUE) {
    return answer(directive);
  }
  proposer_.Judge(
      trial.study, trial.number,
      [this, trial, directive, answer](const PruneDecision& decision) {
        if (!decision.prune) return answer(directive);
        // A heartbeat repeats it, should this reply be lost.
        (void)loop_.Post(
            [this, trial, attempt = directive.attempt(), decision](Batch&) {
              prune_wanted_[trial] = {attempt, decision.reason};
            });
        v1::Directive stop = directive;
        stop.set_action(v1::Directive::STOP_PRUNED);
        stop.set_reason(decision.reason);
        answer(stop);
      });
}

absl::StatusOr<v1::FinishReply> Coordinator::Impl::Finish(
    Batch& batch, const v1::FinishRequest& request) {
  ASSIGN_OR_RETURN(const Leased leased, FindLeased(request.lease()));
  StudyBook& book = *leased.book;
  ASSIGN_OR_RETURN(
      const Result result,
      ResultFromProto(request.outcome(), book.checked().objectives));
  ASSIGN_OR_RETURN(
      FinishAnswer answer,
      frostline::Finish(leased.trial, leased.claimed, leased.proof, result,
                        book.checked().lease.retry, clock_.Wall()));
  ASSIGN_OR_RETURN(const std::vector<MeasurementRow> rows,
                   MeasurementRows(request.measurements(), leased.trial.row,
                                   request.lease().attempt()));
  const bool writes =
      answer.transition.row.has_value() || !answer.transition.attempts.empty();
  if (writes) {
    if (answer.transition.row.has_value() && !rows.empty()) {
      answer.transition.row->last_step = std::max(
          answer.transition.row->last_step, rows.back().measurement.step);
    }
    const bool counted = answer.verdict == Verdict::kAccepted;
    RETURN_IF_ERROR(Persist(
        batch, book, answer.transition,
        [&](Transaction& transaction) -> absl::Status {
          RETURN_IF_ERROR(transaction.AddMeasurements(rows));
          if (!counted || !request.outcome().has_examples()) {
            return absl::OkStatus();
          }
          const v1::ExampleOutcomes& examples = request.outcome().examples();
          return transaction.PutOutcome(
              {.study = leased.trial.row.study,
               .number = leased.trial.row.number,
               .data_fingerprint = examples.data_fingerprint(),
               .encoding = examples.encoding(),
               .count = examples.count(),
               .data = examples.data()});
        }));
    JudgeWorker(batch, leased.trial.row.worker,
                result.kind == Result::Kind::kFailed);
  }
  v1::FinishReply reply;
  reply.set_verdict(static_cast<v1::FinishReply::Verdict>(
      static_cast<int>(answer.verdict) + 1));
  const OpenTrial* const now = book.Find(leased.trial.row.number);
  *reply.mutable_trial() =
      TrialToProto(now != nullptr ? now->row : leased.trial.row, book.row().id,
                   book.checked().space, v1::TRIAL_VIEW_BASIC, {});
  return reply;
}

absl::StatusOr<v1::ReleaseReply> Coordinator::Impl::Release(
    Batch& batch, const v1::ReleaseRequest& request) {
  ASSIGN_OR_RETURN(const Leased leased, FindLeased(request.lease()));
  const bool unrun = request.reason() == v1::ReleaseRequest::UNRUN;
  ASSIGN_OR_RETURN(
      Transition release,
      frostline::Release(
          leased.trial, leased.proof,
          unrun ? AttemptState::kReleased : AttemptState::kPreempted,
          request.has_checkpoint() ? request.checkpoint().SerializeAsString()
                                   : "",
          request.detail(), clock_.Wall()));
  if (!release.row.has_value()) return v1::ReleaseReply();  // repeated
  ASSIGN_OR_RETURN(const std::vector<MeasurementRow> rows,
                   MeasurementRows(request.measurements(), leased.trial.row,
                                   request.lease().attempt()));
  RETURN_IF_ERROR(Persist(batch, *leased.book, std::move(release),
                          [&rows](Transaction& transaction) {
                            return transaction.AddMeasurements(rows);
                          }));
  return v1::ReleaseReply();
}

absl::StatusOr<v1::Worker> Coordinator::Impl::DrainWorker(
    Batch& batch, const v1::DrainWorkerRequest& request) {
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(request.worker()));
  WorkerEntry* const entry = workers_.Find(id);
  if (entry == nullptr) {
    return MakeError(ErrorId::kWorkerUnknown,
                     request.worker() + " is not registered",
                     "see the list with `frostline worker list`", "worker");
  }
  WorkerRow row = entry->row;
  row.state = request.undo() ? WorkerState::kActive : WorkerState::kDraining;
  if (request.undo()) row.failures_in_a_row = 0;
  RETURN_IF_ERROR(batch.Write(
      [&row](Transaction& transaction) { return transaction.PutWorker(row); }));
  entry->row = row;
  return Describe(*entry);
}

v1::Worker Coordinator::Impl::Describe(const WorkerEntry& entry) const {
  v1::Worker worker = entry.info;
  worker.set_name(WorkerNameOf(entry.row.id));
  // Silent for longer than any lease lasts: gone, until it is heard again.
  const WallMicros silent = clock_.Wall() - entry.row.last_seen;
  const bool gone =
      entry.holds.empty() &&
      silent > 3 * std::chrono::duration_cast<std::chrono::microseconds>(
                       options_.lease_ttl)
                       .count();
  worker.set_state(gone ? v1::WORKER_STATE_GONE
                        : static_cast<v1::WorkerState>(entry.row.state));
  *worker.mutable_register_time() = ToTimestamp(entry.row.registered);
  *worker.mutable_last_seen_time() = ToTimestamp(entry.row.last_seen);
  for (const TrialKey& trial : entry.holds) {
    worker.add_trials(
        TrialNameOf(studies_.at(trial.study).row().id, trial.number));
  }
  worker.set_failures_in_a_row(entry.row.failures_in_a_row);
  return worker;
}

absl::StatusOr<v1::ListWorkersReply> Coordinator::Impl::ListWorkers(
    const v1::ListWorkersRequest& request) {
  ASSIGN_OR_RETURN(const WorkerFilter filter,
                   WorkerFilter::Parse(request.filter()));
  ASSIGN_OR_RETURN(
      std::int64_t skip,
      ParsePageToken("workers", request.filter(), request.page_token()));
  const std::int64_t first = skip;
  const int page_size = PageSize(request.page_size());
  v1::ListWorkersReply reply;
  for (const auto& [id, entry] : workers_.all()) {
    const v1::Worker worker = Describe(entry);
    if (!filter.Matches(worker)) continue;
    if (skip-- > 0) continue;
    if (reply.workers_size() == page_size) {
      reply.set_next_page_token(
          MakePageToken("workers", request.filter(), first + page_size));
      break;
    }
    *reply.add_workers() = worker;
  }
  return reply;
}

}  // namespace frostline
