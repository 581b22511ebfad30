// SPDX-License-Identifier: Apache-2.0
//
// Requests of AdminService.
#include <algorithm>

#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "server/wire/field_checks.h"
#include "server/wire/lease_checks.h"
#include "server/wire/limits.h"
#include "server/wire/validate.h"

namespace frostline::server {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kLongestLifetime = 3'650 * kDay;
constexpr std::int64_t kLongestOverlap = 30 * kDay;
constexpr std::size_t kMaxSubjectBytes = 128;
constexpr std::int64_t kLongestInvitation = kDay;
// For one worker by name: it may wait in a site's queue until it can use it.
constexpr std::int64_t kLongestOfOneWorker = 90 * kDay;
constexpr std::size_t kTokenIdBytes = 16;
constexpr char kWorkers[] = "workers/";

absl::Status CheckTokenId(const std::string& id) {
  const bool good = id.size() == kTokenIdBytes &&
                    std::all_of(id.begin(), id.end(), [](char c) {
                      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                    });
  if (good) return absl::OkStatus();
  return BadField("id", "is no id of a token",
                  "`frostline token list` shows them");
}

absl::Status CheckSubject(const v1::CreateTokenRequest& request) {
  const std::string& subject = request.subject();
  const bool of_worker = subject.rfind(kWorkers, 0) == 0;
  if (request.role() == v1::ROLE_WORKER) {
    if (subject.empty()) return absl::OkStatus();
    return CheckWorkerName(subject, "subject");
  }
  const bool good = !subject.empty() && subject.size() <= kMaxSubjectBytes &&
                    !of_worker &&
                    std::all_of(subject.begin(), subject.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                             c == '@' || c == '/' || c == '-';
                    });
  if (good) return absl::OkStatus();
  return BadField("subject", "does not say whom the token stands for",
                  "give 1 to 128 of [A-Za-z0-9._@/-], e.g. ana; workers/ID is "
                  "for the role worker");
}

}  // namespace

absl::Status Validate(const v1::CreateTokenRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  if (request.role() < v1::ROLE_ADMIN || request.role() > v1::ROLE_VIEWER) {
    return BadField("role", "is none",
                    "give admin, researcher, worker or viewer");
  }
  RETURN_IF_ERROR(CheckSubject(request));
  RETURN_IF_ERROR(CheckBytes(request.note(), kMaxLabelBytes, "note"));
  RETURN_IF_ERROR(CheckLabels(request.study_labels(), "study_labels"));
  const bool reads = request.role() == v1::ROLE_RESEARCHER ||
                     request.role() == v1::ROLE_VIEWER;
  if (!request.study_labels().empty() && !reads) {
    return BadField("study_labels", "bind only researchers and viewers",
                    "leave them out, or give another role");
  }
  if (request.single_use() && request.role() != v1::ROLE_WORKER) {
    return BadField("single_use", "is for the role worker",
                    "leave it out, or give the role worker");
  }
  const std::int64_t longest_invitation =
      request.subject().empty() ? kLongestInvitation : kLongestOfOneWorker;
  return CheckDuration(
      request.lifetime(),
      request.single_use() ? longest_invitation : kLongestLifetime, "lifetime");
}

absl::Status Validate(const v1::RotateTokenRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckTokenId(request.id()));
  return CheckDuration(request.overlap(), kLongestOverlap, "overlap");
}

absl::Status Validate(const v1::RevokeTokenRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  return CheckTokenId(request.id());
}

absl::Status Validate(const v1::ListTokensRequest& request) {
  return CheckPage(request.page_size(), request.page_token(), "");
}

absl::Status Validate(const v1::ListCertificatesRequest& request) {
  return CheckPage(request.page_size(), request.page_token(), "");
}

absl::Status Validate(const v1::RevokeCertificatesRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  if (request.sha256().empty() == request.subject().empty()) {
    return BadField("sha256", "and subject are both given, or neither is",
                    "say which certificate, or whose");
  }
  if (request.subject().empty()) {
    return IsSha256(request.sha256())
               ? absl::OkStatus()
               : BadField("sha256", "is not 64 lower-case hex digits",
                          "`frostline cert list` shows them");
  }
  return CheckBytes(request.subject(), kMaxSubjectBytes, "subject");
}

absl::Status Validate(const v1::ListAuditEntriesRequest& request) {
  return CheckPage(request.page_size(), request.page_token(), request.filter());
}

absl::Status Validate(const v1::WhoAmIRequest&) { return absl::OkStatus(); }

absl::Status Validate(const v1::BackupRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  return CheckBytes(request.label(), kMaxLabelBytes, "label");
}

absl::Status Validate(const v1::GetInfoRequest&) { return absl::OkStatus(); }

}  // namespace frostline::server
