// SPDX-License-Identifier: Apache-2.0
//
// What a worker says of its attempt: measurements on the way, and how it ended.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "server/ledger/curve_limit.h"
#include "server/search/observed_steps.h"
#include "server/verbs/lease_verbs.h"
#include "server/wire/auto_precision.h"
#include "server/wire/convert.h"
#include "server/wire/example_outcomes.h"
#include "server/wire/measurement_rows.h"

namespace frostline::server {
namespace {

// STEP_OUT_OF_ORDER for a step that is not new and was not reported before.
absl::Status CheckOrder(const storage::TrialRow& row,
                        const std::vector<storage::MeasurementRow>& measured,
                        StoredRows& rows) {
  for (const storage::MeasurementRow& one : measured) {
    const std::int64_t step = one.measurement.step;
    if (step > row.last_step) break;
    const StoredRows::FirstStep* const first =
        rows.StepFrom({row.study, row.number}, row.attempt, step);
    if (first == nullptr) continue;  // read first, with the others
    RETURN_IF_ERROR(first->status());
    // Of a step in this very group nothing is stored: the store will compare.
    if ((*first)->value_or(step) == step) continue;
    return MakeError(
        ErrorId::kStepOutOfOrder,
        absl::StrCat("step ", step, " comes after step ", row.last_step),
        "number the steps of an attempt upwards", "measurements.step");
  }
  return rows.lacks() ? absl::UnavailableError("read first") : absl::OkStatus();
}

std::vector<Measurement> MeasurementsOf(
    const std::vector<storage::MeasurementRow>& rows) {
  std::vector<Measurement> measurements;
  for (const auto& row : rows) measurements.push_back(row.measurement);
  return measurements;
}

// Of every attempt, however it ended, unless its worker says nothing.
absl::Status WriteLog(storage::Transaction& transaction,
                      const storage::TrialRow& row, std::int64_t attempt,
                      const std::string& tail, const v1::LogPlace& place,
                      WallMicros now) {
  std::string where = place.SerializeAsString();
  if (tail.empty() && where.empty()) return absl::OkStatus();
  return transaction.PutLog({.study = row.study,
                             .number = row.number,
                             .attempt = attempt,
                             .tail = tail,
                             .written = now,
                             .place = std::move(where)});
}

// What is kept of an attempt's end besides rows.
absl::Status WriteEnd(storage::Transaction& transaction,
                      const v1::FinishRequest& end,
                      const storage::TrialRow& row, bool counted,
                      WallMicros now) {
  const v1::Outcome& outcome = end.outcome();
  RETURN_IF_ERROR(WriteLog(transaction, row, end.lease().attempt(),
                           outcome.log_tail(), end.log_place(), now));
  std::optional<storage::OutcomeRow> examples = OutcomeRowOf(outcome);
  if (!counted || !examples.has_value()) return absl::OkStatus();
  examples->study = row.study;
  examples->number = row.number;
  return transaction.PutOutcome(*examples);
}

}  // namespace

void LeaseVerbs::Report(CallContext caller, v1::ReportRequest request,
                        Reply<v1::ReportReply> reply) {
  auto shared = std::make_shared<Reply<v1::ReportReply>>(std::move(reply));
  calls_.Act<Reported>(
      std::move(caller),
      [this, shared](const absl::StatusOr<Reported>& reported) {
        if (!reported.ok()) return (*shared)(reported.status());
        AnswerReport(*reported, shared);
      },
      [this, request = std::move(request)](Change& change) {
        change.AssertOnLoop();
        return TakeReport(change, request);
      });
}

absl::StatusOr<LeaseVerbs::Reported> LeaseVerbs::TakeReport(
    Change& change, const v1::ReportRequest& request) {
  RETURN_IF_ERROR(CheckHolder(change, request.lease()));
  ASSIGN_OR_RETURN(const LeasedTrial known,
                   ledger_.FindLeased(request.lease(), change.rows));
  if (!Reinstate(known.trial, known.proof).has_value()) {
    RETURN_IF_ERROR(CheckLease(known.trial.row, known.proof));
  }
  ASSIGN_OR_RETURN(const std::vector<storage::MeasurementRow> rows,
                   MeasurementRows(request.measurements(), known.trial.row,
                                   request.lease().attempt(), "measurements"));
  RETURN_IF_ERROR(CheckOrder(known.trial.row, rows, change.rows));
  CurveLimit limit(ledger_.running(), known.trial.row,
                   request.lease().attempt());
  RETURN_IF_ERROR(limit.Check(rows, change.rows));
  ASSIGN_OR_RETURN(
      const LeasedTrial leased,
      ledger_.FindHeld(change.batch, request.lease(), change.rows));
  storage::TrialRow row = leased.trial.row;
  Transition transition;
  transition.guard = {row.state, row.attempt, leased.proof.secret};
  std::vector<Measurement> fresh;
  for (const storage::MeasurementRow& measured : rows) {
    if (measured.measurement.step <= row.last_step) continue;
    row.last_step = measured.measurement.step;
    fresh.push_back(measured.measurement);
  }
  storage::AttemptRow attempt = leased.trial.attempt;
  if (request.has_checkpoint()) {
    attempt.checkpoint = request.checkpoint().SerializeAsString();
  }
  const bool new_checkpoint =
      attempt.checkpoint != leased.trial.attempt.checkpoint;
  if (new_checkpoint) transition.attempts = {std::move(attempt)};
  // A repetition leaves no trace, but the store compares what it says.
  if (!fresh.empty() || new_checkpoint) transition.row = row;
  RETURN_IF_ERROR(ledger_.Apply(change.batch, *leased.book,
                                std::move(transition),
                                [&rows](storage::Transaction& transaction) {
                                  return transaction.AddMeasurements(rows);
                                }));
  limit.NoteStored(rows);
  FROSTLINE_FAILPOINT(kReportWritten);
  RETURN_IF_ERROR(NotePrecision(change, *leased.book, request.precision()));
  const CheckedStudy& study = leased.book->checked();
  proposer_.Measured(row.study, row.number, IntermediateOf(fresh, study));
  Reported reported{{row.study, row.number},
                    Renew(change, request.lease(), false),
                    study.pruner.name != "none"};
  const std::string decided = DecidedPrecision(study);
  const bool differs = !request.precision().empty() && !decided.empty() &&
                       request.precision() != decided;
  if (differs && reported.directive.action() == v1::Directive::CONTINUE) {
    reported.directive.set_action(v1::Directive::CHECKPOINT_AND_RELEASE);
    reported.directive.set_reason(
        absl::StrCat("the study is computed in ", decided));
  }
  return reported;
}

absl::Status LeaseVerbs::NotePrecision(Change& change, StudyBook& book,
                                       const std::string& precision) {
  if (!DecidesPrecision(book.checked(), precision)) return absl::OkStatus();
  CheckedStudy checked = book.checked();
  checked.settings.set_auto_precision(precision);
  storage::StudyRow row = book.row();
  row.settings = checked.settings.SerializeAsString();
  RETURN_IF_ERROR(ledger_.PutStudy(change.batch, book, std::move(row)));
  book.AbsorbSettings(std::make_shared<const CheckedStudy>(std::move(checked)));
  return absl::OkStatus();
}

void LeaseVerbs::AnswerReport(
    const Reported& reported,
    const std::shared_ptr<Reply<v1::ReportReply>>& reply) {
  const auto answer = [reply](const v1::Directive& what) {
    v1::ReportReply message;
    *message.mutable_directive() = what;
    (*reply)(std::move(message));
  };
  const v1::Directive& directive = reported.directive;
  if (!reported.is_judged || directive.action() != v1::Directive::CONTINUE) {
    return answer(directive);
  }
  const TrialKey trial = reported.trial;
  proposer_.Judge(
      trial.study, trial.number,
      [this, trial, directive, answer](const sampler::PruneDecision& decision) {
        if (!decision.prune) return answer(directive);
        // A heartbeat repeats it, should this reply be lost.
        calls_.Post(
            [this, trial, attempt = directive.attempt(),
             decision](Batch& batch) {
              batch.AssertOnLoop();
              ledger_.WantPruned(trial, attempt, decision.reason);
            },
            Urgency::kLease, [](const absl::Status&) {});
        v1::Directive stop = directive;
        stop.set_action(v1::Directive::STOP_PRUNED);
        stop.set_reason(decision.reason);
        answer(stop);
      });
}

absl::StatusOr<v1::FinishReply> LeaseVerbs::Finish(
    Change& change, const v1::FinishRequest& request) {
  RETURN_IF_ERROR(CheckHolder(change, request.lease()));
  ASSIGN_OR_RETURN(const LeasedTrial leased,
                   ledger_.FindLeased(request.lease(), change.rows));
  StudyBook& book = *leased.book;
  const storage::TrialRow& row = leased.trial.row;
  ASSIGN_OR_RETURN(
      const Result result,
      ResultFromProto(request.outcome(), book.checked().objectives));
  ASSIGN_OR_RETURN(FinishAnswer answer,
                   frostline::server::Finish(
                       leased.trial, leased.claimed, leased.proof, result,
                       book.checked().lease.retry, clock_.Wall()));
  ASSIGN_OR_RETURN(const std::vector<storage::MeasurementRow> rows,
                   MeasurementRows(request.measurements(), row,
                                   request.lease().attempt(), "measurements"));
  std::optional<storage::TrialRow>& ended = answer.transition.row;
  if (ended.has_value() || !answer.transition.attempts.empty()) {
    RETURN_IF_ERROR(
        CurveLimit(ledger_.running(), row, request.lease().attempt())
            .Check(rows, change.rows));
    if (ended.has_value() && !rows.empty()) {
      ended->last_step =
          std::max(ended->last_step, rows.back().measurement.step);
    }
    const bool counted = answer.verdict == Verdict::kAccepted;
    if (counted && ended.has_value())
      NoteEvaluations(request.outcome(), *ended);
    RETURN_IF_ERROR(ledger_.Apply(
        change.batch, book, answer.transition,
        [&](storage::Transaction& transaction) {
          absl::Status added = transaction.AddMeasurements(rows);
          if (!added.ok()) return added;
          RETURN_IF_ERROR(
              WriteEnd(transaction, request, row, counted, clock_.Wall()));
          // Before the end is told, as a store that is read again tells it.
          if (counted && row.attempt == request.lease().attempt()) {
            proposer_.Measured(
                row.study, row.number,
                IntermediateOf(MeasurementsOf(rows), book.checked()));
          }
          return absl::OkStatus();
        }));
    if (ended.has_value()) ended->revision = book.revision();
    RETURN_IF_ERROR(
        NotePrecision(change, book, request.outcome().usage().precision()));
    FROSTLINE_FAILPOINT(kFinishWritten);
    const std::string& worker =
        leased.claimed.has_value() ? leased.claimed->worker : row.worker;
    ledger_.JudgeRun(change.batch, book, row.number, worker, result);
    dispatcher_.Expect(worker, 1);
  }
  v1::FinishReply reply;
  reply.set_verdict(static_cast<v1::FinishReply::Verdict>(
      static_cast<int>(answer.verdict) + 1));
  // An ended trial is no longer in the book.
  const OpenTrial* const now = book.Find(row.number);
  *reply.mutable_trial() = TrialToProto(ended.has_value() ? *ended
                                        : now != nullptr  ? now->row
                                                          : row,
                                        book.row().id, book.checked().space,
                                        v1::TRIAL_VIEW_BASIC, {});
  return reply;
}

absl::StatusOr<v1::ReleaseReply> LeaseVerbs::Release(
    Change& change, const v1::ReleaseRequest& request) {
  RETURN_IF_ERROR(CheckHolder(change, request.lease()));
  ASSIGN_OR_RETURN(
      const LeasedTrial leased,
      ledger_.FindHeld(change.batch, request.lease(), change.rows));
  const bool unrun = request.reason() == v1::ReleaseRequest::UNRUN ||
                     request.reason() == v1::ReleaseRequest::NOT_IN_STOCK;
  ASSIGN_OR_RETURN(
      Transition release,
      frostline::server::Release(
          leased.trial, leased.proof,
          unrun ? AttemptState::kReleased : AttemptState::kPreempted,
          request.has_checkpoint() ? request.checkpoint().SerializeAsString()
                                   : "",
          request.detail(), clock_.Wall()));
  if (!release.row.has_value()) return v1::ReleaseReply();  // repeated
  ASSIGN_OR_RETURN(const std::vector<storage::MeasurementRow> rows,
                   MeasurementRows(request.measurements(), leased.trial.row,
                                   request.lease().attempt(), "measurements"));
  RETURN_IF_ERROR(
      CurveLimit(ledger_.running(), leased.trial.row, request.lease().attempt())
          .Check(rows, change.rows));
  RETURN_IF_ERROR(ledger_.Apply(
      change.batch, *leased.book, std::move(release),
      [&](storage::Transaction& transaction) {
        RETURN_IF_ERROR(WriteLog(transaction, leased.trial.row,
                                 request.lease().attempt(), request.log_tail(),
                                 request.log_place(), clock_.Wall()));
        return transaction.AddMeasurements(rows);
      }));
  FROSTLINE_FAILPOINT(kReleaseWritten);
  return v1::ReleaseReply();
}

}  // namespace frostline::server
