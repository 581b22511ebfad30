// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "importance/measure/evaluate_options.h"
#include "importance/ranking/stability.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
#include "server/wire/validate.h"
#include "study/space.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMaxStudyNameBytes =
    256;  // of a metric, or of a parameter

absl::Status CheckOptions(const v1::ImportanceOptions& options) {
  RETURN_IF_ERROR(
      CheckBytes(options.evaluator(), kMaxStudyNameBytes, "options.evaluator"));
  RETURN_IF_ERROR(
      CheckBytes(options.target(), kMaxStudyNameBytes, "options.target"));
  RETURN_IF_ERROR(
      CheckBytes(options.best_by(), kMaxStudyNameBytes, "options.best_by"));
  RETURN_IF_ERROR(CheckRange(options.at_step(), 0,
                             std::numeric_limits<std::int64_t>::max(),
                             "options.at_step"));
  RETURN_IF_ERROR(CheckPage(0, "", options.filter()));
  RETURN_IF_ERROR(CheckCount(options.subsets_size(), importance::kMaxSubsets,
                             "options.subsets"));
  for (const v1::ParameterSubset& subset : options.subsets()) {
    RETURN_IF_ERROR(CheckCount(subset.parameters_size(), importance::kMaxSubset,
                               "options.subsets"));
  }
  return CheckCount(options.parameters_size(), kMaxParameters,
                    "options.parameters");
}

}  // namespace

absl::Status Validate(const v1::GetReportRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::ListPairsRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  RETURN_IF_ERROR(CheckPage(request.page_size(), request.page_token(), ""));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::GetMarginalsRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::GetPairMarginalRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  RETURN_IF_ERROR(CheckBytes(request.first(), kMaxStudyNameBytes, "first"));
  RETURN_IF_ERROR(CheckBytes(request.second(), kMaxStudyNameBytes, "second"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::GetStabilityRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  RETURN_IF_ERROR(CheckRange(request.points(), 0,
                             importance::kMaxStabilityPoints, "points"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::CompareStudiesRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.first(), "first"));
  RETURN_IF_ERROR(CheckStudyName(request.second(), "second"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::CompareTrialsRequest& request) {
  const int count = request.contenders_size();
  if (count < 2) {
    return BadField("contenders", absl::StrCat("there are ", count),
                    "name two or more");
  }
  RETURN_IF_ERROR(CheckCount(count, kMaxContenders, "contenders"));
  for (const v1::Contender& contender : request.contenders()) {
    if (contender.trials().empty()) {
      return BadField("contenders.trials", "it is empty",
                      "name a trial of each contender");
    }
    RETURN_IF_ERROR(CheckCount(contender.trials_size(), kMaxContenderTrials,
                               "contenders.trials"));
    for (const std::string& trial : contender.trials()) {
      RETURN_IF_ERROR(CheckTrialName(trial, "contenders.trials"));
    }
    RETURN_IF_ERROR(
        CheckBytes(contender.name(), kMaxStudyNameBytes, "contenders.name"));
  }
  RETURN_IF_ERROR(CheckBytes(request.metric(), kMaxStudyNameBytes, "metric"));
  RETURN_IF_ERROR(CheckBytes(request.set(), kMaxSetNameBytes, "set"));
  RETURN_IF_ERROR(CheckBytes(request.task(), kMaxSetNameBytes, "task"));
  if (std::isfinite(request.margin()) && request.margin() >= 0.0) {
    return absl::OkStatus();
  }
  return BadField("margin", absl::StrCat("it is ", request.margin()),
                  "give a finite number of at least 0");
}

absl::Status Validate(const v1::GetPlanRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::GetFrontierRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::AskPlanRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  RETURN_IF_ERROR(CheckRange(request.trials(), 1, kMaxAskedTrials, "trials"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::GetPlanRivalsRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  RETURN_IF_ERROR(CheckRange(request.seeds(), 1, kMaxVerifySeeds, "seeds"));
  return CheckOptions(request.options());
}

absl::Status Validate(const v1::GetPlanVerificationRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  return CheckBytes(request.batch(), kMaxStudyNameBytes, "batch");
}

}  // namespace frostline::server
