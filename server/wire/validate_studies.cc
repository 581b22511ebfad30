// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "importance/measure/evaluate_options.h"
#include "importance/ranking.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
#include "server/wire/validate.h"
#include "study/space.h"

namespace frostline::server {
namespace {

constexpr std::int64_t kMaxDownsample = 100'000;

// Checks requests to pause, resume and stop.
template <typename Request>
absl::Status CheckVerb(const Request& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  return CheckStudyName(request.name(), "name");
}

absl::Status CheckView(v1::TrialView view) {
  if (v1::TrialView_IsValid(view)) return absl::OkStatus();
  return BadField("view", "is no view",
                  "use TRIAL_VIEW_BASIC or TRIAL_VIEW_FULL");
}

}  // namespace

absl::Status Validate(const v1::CreateStudyRequest& request) {
  // A dry run changes nothing, so nothing has to be remembered.
  if (!request.validate_only() || !request.request_id().empty()) {
    RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  }
  RETURN_IF_ERROR(CheckId(request.study_id(), "study_id"));
  if (request.has_spec()) return absl::OkStatus();
  return BadField("spec", "is missing", "say what is to be searched");
}

absl::Status Validate(const v1::GetStudyRequest& request) {
  return CheckStudyName(request.name(), "name");
}

absl::Status Validate(const v1::ListStudiesRequest& request) {
  return CheckPage(request.page_size(), request.page_token(), request.filter());
}

absl::Status Validate(const v1::PauseStudyRequest& request) {
  RETURN_IF_ERROR(CheckVerb(request));
  return CheckBytes(request.reason(), kMaxReasonBytes, "reason");
}

absl::Status Validate(const v1::ResumeStudyRequest& request) {
  return CheckVerb(request);
}

absl::Status Validate(const v1::StopStudyRequest& request) {
  RETURN_IF_ERROR(CheckVerb(request));
  return CheckBytes(request.reason(), kMaxReasonBytes, "reason");
}

absl::Status Validate(const v1::WatchStudyRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  RETURN_IF_ERROR(CheckRange(request.after_revision(), 0,
                             std::numeric_limits<std::int64_t>::max(),
                             "after_revision"));
  return CheckView(request.view());
}

absl::Status Validate(const v1::GetTrialRequest& request) {
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  return CheckView(request.view());
}

absl::Status Validate(const v1::ListTrialsRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.parent(), "parent"));
  RETURN_IF_ERROR(
      CheckPage(request.page_size(), request.page_token(), request.filter()));
  return CheckView(request.view());
}

absl::Status Validate(const v1::ListMeasurementsRequest& request) {
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  RETURN_IF_ERROR(CheckRange(request.attempt(), 0,
                             std::numeric_limits<std::int32_t>::max(),
                             "attempt"));
  RETURN_IF_ERROR(CheckPage(request.page_size(), request.page_token(), ""));
  return CheckRange(request.downsample_to(), 0, kMaxDownsample,
                    "downsample_to");
}

namespace {

constexpr std::size_t kMaxEtag = 64;
constexpr std::int64_t kMaxBest = 1'000;

absl::Status CheckPriority(std::int64_t priority) {
  return CheckRange(priority, -kMaxPriority, kMaxPriority, "priority");
}

}  // namespace

absl::Status Validate(const v1::UpdateStudyRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  return CheckBytes(request.etag(), kMaxEtag, "etag");
}

absl::Status Validate(const v1::DeleteStudyRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  return CheckBytes(request.etag(), kMaxEtag, "etag");
}

absl::Status Validate(const v1::ExplainStudyRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  return CheckRange(request.trial_number(), 0,
                    std::numeric_limits<std::int64_t>::max(), "trial_number");
}

absl::Status Validate(const v1::EnqueueTrialsRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  RETURN_IF_ERROR(
      CheckCount(request.trials_size(), kMaxTrialsAtOnce, "trials"));
  for (int i = 0; i < request.trials_size(); ++i) {
    RETURN_IF_ERROR(CheckTrialLabels(request.trials(i).labels(),
                                     absl::StrCat("trials[", i, "].labels")));
  }
  return CheckPriority(request.priority());
}

absl::Status Validate(const v1::ImportTrialsRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  RETURN_IF_ERROR(
      CheckCount(request.trials_size(), kMaxTrialsAtOnce, "trials"));
  for (int i = 0; i < request.trials_size(); ++i) {
    const std::string field = absl::StrCat("trials[", i, "]");
    RETURN_IF_ERROR(
        CheckTrialLabels(request.trials(i).labels(), field + ".labels"));
    RETURN_IF_ERROR(
        CheckFinalMetrics(request.trials(i).metrics(), field + ".metrics"));
  }
  return absl::OkStatus();
}

absl::Status Validate(const v1::UpdateTrialRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  return CheckTrialName(request.name(), "name");
}

absl::Status Validate(const v1::CancelTrialRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  return CheckBytes(request.reason(), kMaxReasonBytes, "reason");
}

absl::Status Validate(const v1::RetryTrialRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  // A checkpoint fixes the state of its run's random numbers.
  if (request.seed() == 0 || !request.from_checkpoint()) {
    return absl::OkStatus();
  }
  return BadField("seed", "cannot change within a run",
                  "retry from the start with it, or leave the seed out");
}

absl::Status Validate(const v1::ListBestTrialsRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  return CheckRange(request.limit(), 0, kMaxBest, "limit");
}

absl::Status Validate(const v1::ExportTrialsRequest& request) {
  RETURN_IF_ERROR(CheckStudyName(request.name(), "name"));
  if (!v1::ExportTrialsRequest::Format_IsValid(request.format())) {
    return BadField("format", "is no format", "use JSON_LINES or CSV");
  }
  return CheckPage(0, "", request.filter());
}

absl::Status Validate(const v1::GetExampleOutcomesRequest& request) {
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  RETURN_IF_ERROR(CheckBytes(request.set(), kMaxSetNameBytes, "set"));
  return CheckBytes(request.task(), kMaxSetNameBytes, "task");
}

absl::Status Validate(const v1::ReadPredictionsRequest& request) {
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  RETURN_IF_ERROR(CheckBytes(request.set(), kMaxSetNameBytes, "set"));
  RETURN_IF_ERROR(CheckBytes(request.task(), kMaxSetNameBytes, "task"));
  constexpr auto kAnyNumber = std::numeric_limits<std::int64_t>::max();
  RETURN_IF_ERROR(CheckRange(request.offset(), 0, kAnyNumber, "offset"));
  RETURN_IF_ERROR(CheckRange(request.max_bytes(), 0,
                             static_cast<std::int64_t>(kMaxPieceBytes),
                             "max_bytes"));
  RETURN_IF_ERROR(
      CheckCount(request.examples_size(), kMaxExampleTexts, "examples"));
  for (const std::int64_t example : request.examples()) {
    RETURN_IF_ERROR(CheckRange(example, 0, kAnyNumber, "examples"));
  }
  return CheckDuration(request.wait(), kLongestWaitSeconds, "wait");
}

absl::Status Validate(const v1::GetTrialLogRequest& request) {
  RETURN_IF_ERROR(CheckTrialName(request.name(), "name"));
  RETURN_IF_ERROR(CheckRange(request.attempt(), 0,
                             std::numeric_limits<std::int64_t>::max(),
                             "attempt"));
  RETURN_IF_ERROR(CheckRange(request.max_bytes(), 0,
                             static_cast<std::int64_t>(kMaxLogTailBytes),
                             "max_bytes"));
  RETURN_IF_ERROR(CheckRange(
      request.after(), 0, std::numeric_limits<std::int64_t>::max(), "after"));
  return CheckDuration(request.wait(), kLongestWaitSeconds, "wait");
}

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
