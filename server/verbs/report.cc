// SPDX-License-Identifier: Apache-2.0
//
// Report: measurements on disk, then the pruner's judgement on the reply. On
// the loop, but for the judgement.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "server/coordinator_impl.h"
#include "server/search/observation.h"
#include "server/wire/measurement_rows.h"

namespace frostline {

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
  const auto work = [this, shared, request = std::move(request)](Batch& batch) {
    absl::StatusOr<TrialKey> trial = Report(batch, request);
    const v1::Directive directive =
        trial.ok() ? Renew(batch, request.lease(), false) : v1::Directive();
    batch.Then([this, shared, directive, trial](const absl::Status& committed) {
      if (!committed.ok()) return (*shared)(committed);
      if (!trial.ok()) return (*shared)(trial.status());
      AnswerReport(*trial, directive, shared);
    });
  };
  PostCall(work,
           [&shared](const absl::Status& refused) { (*shared)(refused); });
}

absl::StatusOr<TrialKey> Coordinator::Impl::Report(
    Batch& batch, const v1::ReportRequest& request) {
  ASSIGN_OR_RETURN(const Leased leased, FindHeld(batch, request.lease()));
  TrialRow row = leased.trial.row;
  RETURN_IF_ERROR(CheckLease(row, leased.proof));
  ASSIGN_OR_RETURN(const std::vector<MeasurementRow> rows,
                   MeasurementRows(request.measurements(), row, row.attempt,
                                   "measurements"));
  RETURN_IF_ERROR(CheckOrder(leased, rows));
  Transition transition;
  transition.guard = {row.state, row.attempt, leased.proof.secret};
  std::vector<Measurement> fresh;
  for (const MeasurementRow& measured : rows) {
    if (measured.measurement.step <= row.last_step) continue;
    row.last_step = measured.measurement.step;
    fresh.push_back(measured.measurement);
  }
  AttemptRow attempt = leased.trial.attempt;
  if (request.has_checkpoint()) {
    attempt.checkpoint = request.checkpoint().SerializeAsString();
  }
  const bool new_checkpoint =
      attempt.checkpoint != leased.trial.attempt.checkpoint;
  if (new_checkpoint) transition.attempts = {std::move(attempt)};
  // A repetition leaves no trace, but the store compares what it says.
  if (!fresh.empty() || new_checkpoint) transition.row = row;
  RETURN_IF_ERROR(Persist(batch, *leased.book, std::move(transition),
                          [&rows](Transaction& transaction) {
                            return transaction.AddMeasurements(rows);
                          }));
  FROSTLINE_FAILPOINT(kReportWritten);
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
    const std::shared_ptr<Reply<v1::ReportReply>>& reply) {
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

}  // namespace frostline
