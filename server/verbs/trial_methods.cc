// SPDX-License-Identifier: Apache-2.0
//
// The verbs of people that add or change trials. On the loop.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failpoint.h"
#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/coordinator_impl.h"
#include "server/wire/convert.h"
#include "server/wire/limits.h"
#include "server/wire/measurement_rows.h"
#include "server/wire/point_from_proto.h"
#include "server/wire/training_seed.h"

namespace frostline {
namespace {

absl::Status CheckCount(int count) {
  if (count >= 1 && count <= kMaxTrialsAtOnce) return absl::OkStatus();
  return MakeError(ErrorId::kFieldTooLarge,
                   absl::StrCat(count, " trials in one call"),
                   absl::StrCat("send 1 to ", kMaxTrialsAtOnce), "trials");
}

std::string LabelsOf(
    const google::protobuf::Map<std::string, std::string>& labels) {
  v1::Trial labelled;
  *labelled.mutable_labels() = labels;
  return labelled.SerializeAsString();
}

// A trial finished elsewhere, checked like one that finishes here.
absl::StatusOr<TrialRow> ImportedRow(const v1::ImportedTrial& trial,
                                     const CheckedStudy& study,
                                     const std::string& field) {
  v1::Outcome outcome;
  switch (trial.state()) {
    case v1::TRIAL_STATE_SUCCEEDED:
      outcome.set_kind(v1::Outcome::SUCCEEDED);
      break;
    case v1::TRIAL_STATE_PRUNED:
      outcome.set_kind(v1::Outcome::PRUNED);
      break;
    case v1::TRIAL_STATE_INFEASIBLE:
      outcome.set_kind(v1::Outcome::INFEASIBLE);
      break;
    case v1::TRIAL_STATE_FAILED:
      outcome.set_kind(v1::Outcome::FAILED);
      break;
    default:
      return MakeError(ErrorId::kRequestInvalid,
                       "an imported trial has not ended",
                       "import SUCCEEDED, PRUNED, INFEASIBLE or FAILED trials",
                       field + ".state");
  }
  *outcome.mutable_metrics() = trial.metrics();
  if (trial.has_usage()) *outcome.mutable_usage() = trial.usage();
  ASSIGN_OR_RETURN(const Result result,
                   ResultFromProto(outcome, study.objectives));
  TrialRow row;
  row.state = static_cast<TrialState>(trial.state());
  row.origin = TrialOrigin::kImported;
  ASSIGN_OR_RETURN(row.point, PointFromValues(study.space, trial.parameters(),
                                              field + ".parameters"));
  RETURN_IF_ERROR(study.space.Check(row.point));
  row.metrics = result.metrics;
  row.values = result.values;
  row.usage = result.usage;
  row.labels = LabelsOf(trial.labels());
  NoteSeed({.seed = trial.seed(), .repeat = 0}, row);
  if (!IsTimestamp(trial.start_time()) || !IsTimestamp(trial.end_time())) {
    return MakeError(ErrorId::kRequestInvalid, "a time is out of range",
                     "give times from 1970 to 9999, or none", field);
  }
  row.started = TimestampFromProto(trial.start_time());
  row.ended = TimestampFromProto(trial.end_time());
  return row;
}

}  // namespace

absl::StatusOr<Coordinator::Impl::Named> Coordinator::Impl::FindTrial(
    const std::string& name) {
  ASSIGN_OR_RETURN(const TrialName parsed, ParseTrialName(name));
  Named named;
  ASSIGN_OR_RETURN(named.book, FindStudy(StudyNameOf(parsed.study_id)));
  if (const OpenTrial* const found = named.book->Find(parsed.number)) {
    named.trial = *found;
    return named;
  }
  ASSIGN_OR_RETURN(named.trial.row,
                   store_.FindTrial(named.book->row().key, parsed.number));
  return named;
}

v1::Trial Coordinator::Impl::Describe(const StudyBook& book,
                                      const TrialRow& row) const {
  return TrialToProto(row, book.row().id, book.checked().space,
                      v1::TRIAL_VIEW_BASIC, {});
}

absl::Status Coordinator::Impl::RequireOpen(const StudyBook& book) {
  if (book.row().state == StudyState::kActive ||
      book.row().state == StudyState::kPaused) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kStudyNotActive,
      absl::StrCat("the study has ended: ", book.row().state_reason),
      "raise the budget of a completed study, or create another", "name");
}

absl::StatusOr<std::int64_t> Coordinator::Impl::Enqueue(
    Batch& batch, StudyBook& book, const v1::EnqueuedTrial& trial, int priority,
    const std::string& field) {
  TrialRow row;
  row.number = book.next_number();
  row.origin = TrialOrigin::kEnqueued;
  row.priority = priority;
  ASSIGN_OR_RETURN(row.point,
                   PointFromEnqueued(book.checked(), trial, field, row.number));
  row.seen_revision = book.revision();
  row.labels = LabelsOf(trial.labels());
  NotedSeed seed{.seed = trial.seed(), .repeat = 0};
  if (seed.seed == 0) {
    seed.seed = TrainingSeed(book.checked().spec, row.number, seed.repeat);
  }
  NoteSeed(seed, row);
  proposer_.Began(book.row().key, row.number, row.point, seed);
  const std::int64_t number = row.number;
  RETURN_IF_ERROR(InsertTrial(batch, book, std::move(row)));
  FROSTLINE_FAILPOINT(kTrialsEnqueued);
  return number;
}

absl::Status Coordinator::Impl::RaiseBudget(Batch& batch, StudyBook& book,
                                            std::int64_t count,
                                            v1::EnqueueTrialsReply& reply) {
  v1::StudySettings settings = book.checked().settings;
  const std::int64_t budget = settings.budget().trials();
  const std::int64_t wanted = std::max(budget, book.BudgetTaken() + count);
  if (wanted > budget || book.row().state == StudyState::kCompleted) {
    settings.mutable_budget()->set_trials(wanted);
    RETURN_IF_ERROR(ChangeSettings(batch, book, settings));
  }
  reply.set_budget_raised_by(wanted - budget);
  return absl::OkStatus();
}

absl::StatusOr<v1::EnqueueTrialsReply> Coordinator::Impl::EnqueueTrials(
    Batch& batch, const v1::EnqueueTrialsRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(request.name()));
  if (book->row().state != StudyState::kCompleted || !request.raise_budget()) {
    RETURN_IF_ERROR(RequireOpen(*book));
  }
  RETURN_IF_ERROR(CheckCount(request.trials_size()));
  const std::int64_t left =
      book->checked().settings.budget().trials() - book->BudgetTaken();
  if (request.trials_size() > left && !request.raise_budget()) {
    return MakeError(ErrorId::kBudgetInvalid,
                     absl::StrCat("the budget has room for ", left,
                                  " more trials; enqueued ones count"),
                     "raise the budget, or enqueue fewer", "trials");
  }
  const auto field = [](int i) { return absl::StrCat("trials[", i, "]"); };
  // All are judged before the first is written.
  for (int i = 0; i < request.trials_size(); ++i) {
    RETURN_IF_ERROR(PointFromEnqueued(book->checked(), request.trials(i),
                                      field(i), book->next_number() + i)
                        .status());
  }
  v1::EnqueueTrialsReply reply;
  if (request.raise_budget()) {
    RETURN_IF_ERROR(RaiseBudget(batch, *book, request.trials_size(), reply));
  }
  reply.set_budget(book->checked().settings.budget().trials());
  for (int i = 0; i < request.trials_size(); ++i) {
    ASSIGN_OR_RETURN(
        const std::int64_t number,
        Enqueue(batch, *book, request.trials(i), request.priority(), field(i)));
    *reply.add_trials() = Describe(*book, book->Find(number)->row);
  }
  return reply;
}

absl::StatusOr<v1::ImportTrialsReply> Coordinator::Impl::ImportTrials(
    Batch& batch, const v1::ImportTrialsRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, FindStudy(request.name()));
  RETURN_IF_ERROR(RequireOpen(*book));
  RETURN_IF_ERROR(CheckCount(request.trials_size()));
  std::vector<TrialRow> rows;
  std::vector<std::vector<MeasurementRow>> measured;
  for (int i = 0; i < request.trials_size(); ++i) {
    const std::string field = absl::StrCat("trials[", i, "]");
    ASSIGN_OR_RETURN(TrialRow row,
                     ImportedRow(request.trials(i), book->checked(), field));
    ASSIGN_OR_RETURN(std::vector<MeasurementRow> steps,
                     MeasurementRows(request.trials(i).measurements(), row, 0,
                                     field + ".measurements"));
    rows.push_back(std::move(row));
    measured.push_back(std::move(steps));
  }
  v1::ImportTrialsReply reply;
  reply.set_first_number(book->next_number());
  reply.set_count(request.trials_size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TrialRow& row = rows[i];
    row.number = book->next_number();
    row.seen_revision = book->revision();
    row.ended_revision = book->revision() + 1;
    for (MeasurementRow& step : measured[i]) {
      step.study = book->row().key;
      step.number = row.number;
      row.last_step = step.measurement.step;
    }
    proposer_.Began(book->row().key, row.number, row.point, NotedSeedOf(row));
    proposer_.Ended(
        book->row().key, row.number, row.state, row.values,
        request.trials(static_cast<int>(i)).usage().train_seconds());
    RETURN_IF_ERROR(InsertTrial(batch, *book, std::move(row)));
    FROSTLINE_FAILPOINT(kTrialsImported);
    RETURN_IF_ERROR(batch.Write([&](Transaction& transaction) {
      return transaction.AddMeasurements(measured[i]);
    }));
  }
  return reply;
}

absl::StatusOr<v1::Trial> Coordinator::Impl::UpdateTrial(
    Batch& batch, const v1::UpdateTrialRequest& request) {
  ASSIGN_OR_RETURN(Named named, FindTrial(request.name()));
  TrialRow row = named.trial.row;
  v1::Trial kept;
  kept.ParseFromString(row.labels);
  for (const std::string& path : request.update_mask().paths()) {
    if (path == "labels") {
      *kept.mutable_labels() = request.labels();
    } else if (path == "note") {
      kept.set_note(request.note());
    } else {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("a trial's ", path, " cannot be changed"),
                       "only labels and note can", "update_mask");
    }
  }
  if (request.update_mask().paths().empty() ||
      kept.ByteSizeLong() > 64 * 1024) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the mask is empty, or labels and note are over 64 KiB",
                     "name labels or note, and keep them small", "update_mask");
  }
  row.labels = kept.SerializeAsString();
  if (!IsTerminal(row.state)) {
    Transition change;
    change.guard = {row.state, row.attempt, std::nullopt};
    change.row = row;
    RETURN_IF_ERROR(
        Persist(batch, *named.book, std::move(change), NothingMore));
    return Describe(*named.book, named.book->Find(row.number)->row);
  }
  row.revision = named.book->revision() + 1;
  RETURN_IF_ERROR(batch.Write([&row](Transaction& transaction) {
    return transaction.UpdateTrial(row, {row.state, row.attempt, std::nullopt});
  }));
  named.book->AbsorbEnded(row);
  changed_.insert(row.study);
  return Describe(*named.book, row);
}

absl::StatusOr<v1::Trial> Coordinator::Impl::CancelTrial(
    Batch& batch, const v1::CancelTrialRequest& request) {
  ASSIGN_OR_RETURN(Named named, FindTrial(request.name()));
  ASSIGN_OR_RETURN(
      Transition cancel,
      Cancel(named.trial,
             request.reason().empty() ? "cancelled" : request.reason(),
             clock_.Wall()));
  RETURN_IF_ERROR(Persist(batch, *named.book, std::move(cancel), NothingMore));
  return Describe(*named.book, named.book->Find(named.trial.row.number)->row);
}

// An attempt 0 of the trial to come: the newest attempt of `row` that left a
// checkpoint, handed on.
absl::StatusOr<AttemptRow> Coordinator::Impl::CheckpointOf(
    const TrialRow& row, const std::string& name) const {
  ASSIGN_OR_RETURN(const std::vector<AttemptRow> attempts,
                   store_.ListAttempts(row.study, row.number));
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend();
       ++attempt) {
    if (attempt->checkpoint.empty()) continue;
    AttemptRow handed_on;
    handed_on.state = AttemptState::kReleased;
    handed_on.worker = attempt->worker;
    handed_on.boot_id = attempt->boot_id;
    handed_on.started = handed_on.ended = clock_.Wall();
    handed_on.cause = absl::StrCat("goes on from ", name);
    handed_on.checkpoint = attempt->checkpoint;
    return handed_on;
  }
  return MakeError(ErrorId::kTrialNotFound,
                   absl::StrCat(name, " left no checkpoint"),
                   "retry it from the start", "from_checkpoint");
}

absl::StatusOr<v1::Trial> Coordinator::Impl::RetryTrial(
    Batch& batch, const v1::RetryTrialRequest& request) {
  ASSIGN_OR_RETURN(Named named, FindTrial(request.name()));
  StudyBook& book = *named.book;
  if (!IsTerminal(named.trial.row.state)) {
    return MakeError(
        ErrorId::kTrialNotTerminal,
        absl::StrCat(request.name(), " is ", NameOf(named.trial.row.state)),
        "wait for its end, or cancel it", "name");
  }
  if (book.row().state != StudyState::kCompleted) {
    RETURN_IF_ERROR(RequireOpen(book));
  }
  TrialRow row;
  row.number = book.next_number();
  row.origin = TrialOrigin::kRetry;
  row.point = named.trial.row.point;
  row.labels = named.trial.row.labels;
  // The same run again, so the same seed, also where none was noted yet.
  const NotedSeed seed{
      .seed = SeedToTrainWith(named.trial.row, book.checked().spec),
      .repeat = NotedSeedOf(row).repeat};
  NoteSeed(seed, row);
  row.seen_revision = book.revision();
  const std::int64_t number = row.number;
  std::optional<AttemptRow> before;
  if (request.from_checkpoint()) {
    ASSIGN_OR_RETURN(before, CheckpointOf(named.trial.row, request.name()));
    before->study = book.row().key;
    before->number = number;
  }
  proposer_.Began(book.row().key, number, row.point, seed);
  RETURN_IF_ERROR(InsertTrial(batch, book, row));
  if (before.has_value()) {
    RETURN_IF_ERROR(batch.Write([&before](Transaction& transaction) {
      return transaction.PutAttempt(*before);
    }));
    book.Absorb(book.Find(number)->row, before);
  }
  if (book.row().state == StudyState::kCompleted) {
    RETURN_IF_ERROR(PersistStudy(batch, book, StudyState::kActive,
                                 absl::StrCat("retry of ", request.name())));
  }
  return Describe(book, book.Find(number)->row);
}

}  // namespace frostline
