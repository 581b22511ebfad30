// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "base/error.h"
#include "base/ids.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
#include "server/wire/validate.h"

namespace frostline::server {
namespace {

constexpr std::int64_t kMaxDownsample = 100'000;

// The same three for pause, resume and stop.
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

}  // namespace frostline::server
