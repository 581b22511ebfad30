// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/wire/field_checks.h"
#include "server/wire/lease_checks.h"
#include "server/wire/limits.h"
#include "server/wire/validate.h"

namespace frostline::server {
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
  // A checkpoint holds where its run's chance stands.
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
  constexpr auto kAny = std::numeric_limits<std::int64_t>::max();
  RETURN_IF_ERROR(CheckRange(request.offset(), 0, kAny, "offset"));
  RETURN_IF_ERROR(CheckRange(request.max_bytes(), 0,
                             static_cast<std::int64_t>(kMaxPieceBytes),
                             "max_bytes"));
  RETURN_IF_ERROR(
      CheckCount(request.examples_size(), kMaxExampleTexts, "examples"));
  for (const std::int64_t example : request.examples()) {
    RETURN_IF_ERROR(CheckRange(example, 0, kAny, "examples"));
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

}  // namespace frostline::server
