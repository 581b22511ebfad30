// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/wire/convert.h"

namespace frostline::server {
namespace {

Result::Kind KindFromProto(v1::Outcome::Kind kind) {
  switch (kind) {
    case v1::Outcome::SUCCEEDED:
      return Result::Kind::kSucceeded;
    case v1::Outcome::PRUNED:
      return Result::Kind::kPruned;
    case v1::Outcome::INFEASIBLE:
      return Result::Kind::kInfeasible;
    case v1::Outcome::CANCELLED:
      return Result::Kind::kCancelled;
    default:
      return Result::Kind::kFailed;
  }
}

}  // namespace

absl::StatusOr<Result> ResultFromProto(
    const v1::Outcome& outcome, const std::vector<Objective>& objectives) {
  if (outcome.kind() == v1::Outcome::KIND_UNSPECIFIED) {
    return MakeError(ErrorId::kRequestInvalid, "the outcome has no kind",
                     "say how the attempt ended", "outcome.kind");
  }
  Result result;
  result.kind = KindFromProto(outcome.kind());
  result.cause = outcome.cause();
  result.failure = static_cast<FailureClass>(outcome.failure());
  if (result.kind == Result::Kind::kFailed &&
      result.failure == FailureClass::kNone) {
    result.failure = FailureClass::kTrial;
  }
  const bool must_have = result.kind == Result::Kind::kSucceeded;
  result.metrics = {outcome.metrics().begin(), outcome.metrics().end()};
  for (const Objective& objective : objectives) {
    const auto found = outcome.metrics().find(objective.metric);
    if (must_have && found == outcome.metrics().end()) {
      return MakeError(
          ErrorId::kObjectiveMissing,
          absl::StrCat("the final metrics lack ", objective.metric),
          "report every objective of the study at the end",
          absl::StrCat("outcome.metrics.", objective.metric));
    }
    if (must_have && !std::isfinite(found->second)) {
      return MakeError(ErrorId::kMetricNotFinite,
                       absl::StrCat(objective.metric, " is ", found->second),
                       "end the trial INFEASIBLE when its loss diverged",
                       absl::StrCat("outcome.metrics.", objective.metric));
    }
    if (found != outcome.metrics().end() && std::isfinite(found->second)) {
      result.values.push_back(found->second);
    }
  }
  const bool scored = result.kind == Result::Kind::kSucceeded ||
                      result.kind == Result::Kind::kPruned;
  if (!scored || result.values.size() != objectives.size()) {
    result.values.clear();
  }
  if (outcome.has_usage()) result.usage = outcome.usage().SerializeAsString();
  if (outcome.has_checkpoint()) {
    result.checkpoint = outcome.checkpoint().SerializeAsString();
  }
  result.outcome = outcome.SerializeAsString();
  return result;
}

}  // namespace frostline::server
