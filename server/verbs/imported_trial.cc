// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/imported_trial.h"

#include "base/error.h"
#include "proto/wire_time.h"
#include "server/verbs/enqueue.h"
#include "server/wire/convert.h"
#include "server/wire/space.h"
#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

// Says which of many trials it is.
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
  // Behind the point: a misspelt parameter matters before a metric forgotten.
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

}  // namespace frostline::server
