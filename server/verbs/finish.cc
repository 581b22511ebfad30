// SPDX-License-Identifier: Apache-2.0
//
// How an attempt ends by its worker's word: Finish and Release. On the loop.
#include <algorithm>
#include <utility>

#include "base/failpoint.h"
#include "server/coordinator_impl.h"
#include "server/wire/convert.h"
#include "server/wire/measurement_rows.h"

namespace frostline {

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
                                   request.lease().attempt(), "measurements"));
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
          if (!request.outcome().log_tail().empty()) {
            RETURN_IF_ERROR(
                transaction.PutLog({.study = leased.trial.row.study,
                                    .number = leased.trial.row.number,
                                    .attempt = request.lease().attempt(),
                                    .tail = request.outcome().log_tail(),
                                    .written = clock_.Wall()}));
          }
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
    FROSTLINE_FAILPOINT(kFinishWritten);
    const std::string& worker = leased.claimed.has_value()
                                    ? leased.claimed->worker
                                    : leased.trial.row.worker;
    JudgeWorker(batch, worker, result.kind == Result::Kind::kFailed);
    Expect(worker, 1);
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
  ASSIGN_OR_RETURN(const Leased leased, FindHeld(batch, request.lease()));
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
                                   request.lease().attempt(), "measurements"));
  RETURN_IF_ERROR(Persist(batch, *leased.book, std::move(release),
                          [&rows](Transaction& transaction) {
                            return transaction.AddMeasurements(rows);
                          }));
  FROSTLINE_FAILPOINT(kReleaseWritten);
  return v1::ReleaseReply();
}

}  // namespace frostline
