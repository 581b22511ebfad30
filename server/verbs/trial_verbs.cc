// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/trial_verbs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "proto/rules.h"
#include "proto/wire_values.h"
#include "server/search/stored_history.h"
#include "server/verbs/describe.h"
#include "server/wire/convert.h"
#include "server/wire/space.h"
#include "server/wire/spec.h"

namespace frostline::server {
namespace {

// Adds to an error which of many trials it is about.
absl::Status CheckIn(const Space& space, const Point& point,
                     const std::string& field) {
  const absl::Status status = space.Check(point);
  const auto detail = DetailOf(status);
  if (!detail.has_value()) return status;
  return MakeError(detail->id, std::string(status.message()), detail->fix,
                   absl::StrCat(field, ".", detail->field));
}

}  // namespace

absl::StatusOr<storage::TrialRow> ImportedRow(const v1::ImportedTrial& trial,
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
  storage::TrialRow row;
  row.state = static_cast<TrialState>(trial.state());
  row.origin = storage::TrialOrigin::kImported;
  ASSIGN_OR_RETURN(row.point, PointFromValues(study.space, trial.parameters(),
                                              field + ".parameters"));
  RETURN_IF_ERROR(CheckIn(study.space, row.point, field));
  // Checked after the point: a misspelt parameter matters more than a forgotten
  // metric.
  ASSIGN_OR_RETURN(const Result result,
                   ResultFromProto(outcome, study.objectives));
  row.metrics = result.metrics;
  row.values = result.values;
  row.usage = result.usage;
  row.labels = LabelsOf(trial.labels());
  NoteSeed({.seed = trial.seed(), .repeat = 0}, row);
  if (!proto::IsTimestamp(trial.start_time()) ||
      !proto::IsTimestamp(trial.end_time())) {
    return MakeError(ErrorId::kRequestInvalid, "a time is out of range",
                     "give times from 1970 to 9999, or none", field);
  }
  row.started = proto::TimestampFromProto(trial.start_time());
  row.ended = proto::TimestampFromProto(trial.end_time());
  return row;
}

namespace {

absl::Status CheckTrialCount(int count) {
  const int most = proto::MaxItems<v1::EnqueueTrialsRequest>("trials");
  if (count >= 1 && count <= most) return absl::OkStatus();
  return MakeError(ErrorId::kFieldTooLarge,
                   absl::StrCat(count, " trials in one call"),
                   absl::StrCat("send 1 to ", most), "trials");
}

}  // namespace

TrialVerbs::TrialVerbs(Calls& calls, Ledger& ledger, Proposer& proposer,
                       StudyVerbs& studies, const Clock& clock)
    : calls_(calls),
      ledger_(ledger),
      proposer_(proposer),
      studies_(studies),
      clock_(clock) {}

void TrialVerbs::AddTo(VerbTable& table) {
  using V = TrialVerbs;
  const auto add = [&](const char* verb, auto body) {
    calls_.AddOnce(table, absl::StrCat("StudyService.", verb),
                   CallerRole::kResearcher, this, body);
  };
  add("EnqueueTrials", &V::EnqueueTrials);
  add("ImportTrials", &V::ImportTrials);
  add("UpdateTrial", &V::UpdateTrial);
  add("CancelTrial", &V::CancelTrial);
  add("RetryTrial", &V::RetryTrial);
}

absl::Status TrialVerbs::RaiseBudget(Batch& batch, StudyBook& book,
                                     std::int64_t count,
                                     v1::EnqueueTrialsReply& reply) {
  v1::StudySettings settings = book.checked().settings;
  const std::int64_t budget = settings.budget().trials();
  const std::int64_t wanted = std::max(budget, book.BudgetTaken() + count);
  if (wanted > budget || book.row().state == storage::StudyState::kCompleted) {
    settings.mutable_budget()->set_trials(wanted);
    RETURN_IF_ERROR(studies_.ChangeSettings(batch, book, settings));
  }
  reply.set_budget_raised_by(wanted - budget);
  return absl::OkStatus();
}

absl::StatusOr<v1::EnqueueTrialsReply> TrialVerbs::EnqueueTrials(
    Change& change, const v1::EnqueueTrialsRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, ledger_.FindStudy(request.name()));
  if (book->row().state != storage::StudyState::kCompleted ||
      !request.raise_budget()) {
    RETURN_IF_ERROR(RequireOpen(*book));
  }
  RETURN_IF_ERROR(CheckTrialCount(request.trials_size()));
  const std::int64_t left =
      book->checked().settings.budget().trials() - book->BudgetTaken();
  if (request.trials_size() > left && !request.raise_budget()) {
    return MakeError(ErrorId::kBudgetInvalid,
                     absl::StrCat("the budget has room for ", left,
                                  " more trials; enqueued ones count"),
                     "raise the budget, or enqueue fewer", "trials");
  }
  const auto field = [](int i) { return absl::StrCat("trials[", i, "]"); };
  // Checks all of them before the first is written.
  for (int i = 0; i < request.trials_size(); ++i) {
    RETURN_IF_ERROR(PointFromEnqueued(book->checked(), request.trials(i),
                                      field(i), book->next_number() + i)
                        .status());
  }
  v1::EnqueueTrialsReply reply;
  if (request.raise_budget()) {
    RETURN_IF_ERROR(
        RaiseBudget(change.batch, *book, request.trials_size(), reply));
  }
  reply.set_budget(book->checked().settings.budget().trials());
  for (int i = 0; i < request.trials_size(); ++i) {
    ASSIGN_OR_RETURN(
        const std::int64_t number,
        EnqueueOne({change.batch, ledger_, proposer_}, *book, request.trials(i),
                   request.priority(), field(i)));
    *reply.add_trials() = DescribeTrial(*book, book->Find(number)->row);
  }
  return reply;
}

absl::StatusOr<v1::ImportTrialsReply> TrialVerbs::ImportTrials(
    Change& change, const v1::ImportTrialsRequest& request) {
  ASSIGN_OR_RETURN(StudyBook * book, ledger_.FindStudy(request.name()));
  RETURN_IF_ERROR(RequireOpen(*book));
  RETURN_IF_ERROR(CheckTrialCount(request.trials_size()));
  std::vector<storage::TrialRow> rows;
  std::vector<std::vector<storage::MeasurementRow>> measured;
  for (int i = 0; i < request.trials_size(); ++i) {
    const std::string field = absl::StrCat("trials[", i, "]");
    ASSIGN_OR_RETURN(storage::TrialRow row,
                     ImportedRow(request.trials(i), book->checked(), field));
    ASSIGN_OR_RETURN(std::vector<storage::MeasurementRow> steps,
                     MeasurementRows(request.trials(i).measurements(), row, 0,
                                     field + ".measurements"));
    rows.push_back(std::move(row));
    measured.push_back(std::move(steps));
  }
  v1::ImportTrialsReply reply;
  reply.set_first_number(book->next_number());
  reply.set_count(request.trials_size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    storage::TrialRow& row = rows[i];
    row.number = book->next_number();
    row.seen_revision = book->revision();
    row.ended_revision = book->revision() + 1;
    std::vector<Measurement> curve;
    for (storage::MeasurementRow& step : measured[i]) {
      step.study = book->row().key;
      step.number = row.number;
      row.last_step = step.measurement.step;
      curve.push_back(step.measurement);
    }
    RETURN_IF_ERROR(ledger_.InsertTrial(change.batch, *book, row));
    FROSTLINE_FAILPOINT(kTrialsImported);
    RETURN_IF_ERROR(change.batch.Write([&](storage::Transaction& transaction) {
      return transaction.AddMeasurements(measured[i]);
    }));
    // If this opens a search, the search finds the trial in the store.
    const storage::StudyKey study = book->row().key;
    proposer_.Began(study, row.number, row.point, NotedSeedOf(row));
    proposer_.Measured(study, row.number,
                       IntermediateOf(curve, book->checked()));
    row.study = study;
    TellEnded(row, book->checked(), proposer_);
  }
  return reply;
}

absl::StatusOr<v1::Trial> TrialVerbs::UpdateTrial(
    Change& change, const v1::UpdateTrialRequest& request) {
  ASSIGN_OR_RETURN(NamedTrial named,
                   ledger_.FindTrial(request.name(), change.rows));
  storage::TrialRow row = named.trial.row;
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
      kept.ByteSizeLong() > proto::MaxBytes<v1::EnqueuedTrial>("labels")) {
    return MakeError(ErrorId::kRequestInvalid,
                     "the mask is empty, or labels and note are over 64 KiB",
                     "name labels or note, and keep them small", "update_mask");
  }
  row.labels = kept.SerializeAsString();
  if (!IsTerminal(row.state)) {
    Transition relabel;
    relabel.guard = {row.state, row.attempt, std::nullopt};
    relabel.row = row;
    RETURN_IF_ERROR(
        ledger_.Apply(change.batch, *named.book, std::move(relabel)));
    return DescribeTrial(*named.book, named.book->Find(row.number)->row);
  }
  const std::int64_t number = row.number;
  RETURN_IF_ERROR(ledger_.PutEnded(change.batch, *named.book, std::move(row)));
  return DescribeTrial(*named.book, named.book->Find(number)->row);
}

absl::StatusOr<v1::Trial> TrialVerbs::CancelTrial(
    Change& change, const v1::CancelTrialRequest& request) {
  ASSIGN_OR_RETURN(NamedTrial named,
                   ledger_.FindTrial(request.name(), change.rows));
  ASSIGN_OR_RETURN(
      Transition cancel,
      Cancel(named.trial,
             request.reason().empty() ? "cancelled" : request.reason(),
             clock_.Wall()));
  RETURN_IF_ERROR(ledger_.Apply(change.batch, *named.book, std::move(cancel)));
  return DescribeTrial(*named.book,
                       named.book->Find(named.trial.row.number)->row);
}

absl::StatusOr<storage::AttemptRow> TrialVerbs::CheckpointOf(
    const storage::TrialRow& row, const std::string& name,
    StoredRows& rows) const {
  const TrialAsStored* const stored = rows.Trial({row.study, row.number});
  if (stored == nullptr) return absl::UnavailableError("read first");
  RETURN_IF_ERROR(stored->status);
  const std::vector<storage::AttemptRow>& attempts = stored->attempts;
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend();
       ++attempt) {
    if (attempt->checkpoint.empty()) continue;
    storage::AttemptRow handed_on;
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

absl::StatusOr<v1::Trial> TrialVerbs::RetryTrial(
    Change& change, const v1::RetryTrialRequest& request) {
  ASSIGN_OR_RETURN(NamedTrial named,
                   ledger_.FindTrial(request.name(), change.rows));
  StudyBook& book = *named.book;
  if (!IsTerminal(named.trial.row.state)) {
    return MakeError(
        ErrorId::kTrialNotTerminal,
        absl::StrCat(request.name(), " is ", NameOf(named.trial.row.state)),
        "wait for its end, or cancel it", "name");
  }
  if (book.row().state != storage::StudyState::kCompleted) {
    RETURN_IF_ERROR(RequireOpen(book));
  }
  storage::TrialRow row;
  row.number = book.next_number();
  row.origin = storage::TrialOrigin::kRetry;
  row.point = named.trial.row.point;
  row.labels = named.trial.row.labels;
  ForgetEvaluations(row);
  // Unless another seed is asked for this is the same run again, so it has the
  // same seed, also when none was noted yet.
  const NotedSeed seed{
      .seed = request.seed() != 0
                  ? request.seed()
                  : SeedToTrainWith(named.trial.row, book.checked().spec),
      .repeat = NotedSeedOf(row).repeat};
  NoteSeed(seed, row);
  row.seen_revision = book.revision();
  const std::int64_t number = row.number;
  std::optional<storage::AttemptRow> before;
  if (request.from_checkpoint()) {
    ASSIGN_OR_RETURN(
        before, CheckpointOf(named.trial.row, request.name(), change.rows));
    before->study = book.row().key;
    before->number = number;
  }
  RETURN_IF_ERROR(ledger_.InsertTrial(change.batch, book, row, before));
  proposer_.Began(book.row().key, number, row.point, seed);
  if (book.row().state == storage::StudyState::kCompleted) {
    RETURN_IF_ERROR(
        ledger_.SetState(change.batch, book, storage::StudyState::kActive,
                         absl::StrCat("retry of ", request.name())));
  }
  return DescribeTrial(book, book.Find(number)->row);
}

}  // namespace frostline::server
