// SPDX-License-Identifier: Apache-2.0
#include "server/wire/validate.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/error.h"
#include "base/plain/sums.h"
#include "proto/wire_values.h"
#include "server/wire/convert.h"

namespace frostline::server {
namespace {

using proto::BadField;

absl::Status CheckView(v1::TrialView view) {
  if (v1::TrialView_IsValid(view)) return absl::OkStatus();
  return BadField("view", "is no view",
                  "use TRIAL_VIEW_BASIC or TRIAL_VIEW_FULL");
}

}  // namespace

// --- StudyService ---

absl::Status Validate(const v1::CreateStudyRequest& request) {
  // A dry run changes nothing, so nothing has to be remembered.
  if (!request.validate_only()) {
    RETURN_IF_ERROR(proto::CheckRequestId(request.request_id(), "request_id"));
  }
  RETURN_IF_ERROR(proto::CheckRules(request));
  if (request.has_spec()) return absl::OkStatus();
  return BadField("spec", "is missing", "say what is to be searched");
}

absl::Status CheckBesides(const v1::WatchStudyRequest& request) {
  return CheckView(request.view());
}

absl::Status CheckBesides(const v1::GetTrialRequest& request) {
  return CheckView(request.view());
}

absl::Status CheckBesides(const v1::ListTrialsRequest& request) {
  return CheckView(request.view());
}

absl::Status CheckBesides(const v1::RetryTrialRequest& request) {
  // A checkpoint fixes the state of its run's random numbers.
  if (request.seed() == 0 || !request.from_checkpoint()) {
    return absl::OkStatus();
  }
  return BadField("seed", "cannot change within a run",
                  "retry from the start with it, or leave the seed out");
}

absl::Status CheckBesides(const v1::ExportTrialsRequest& request) {
  if (v1::ExportTrialsRequest::Format_IsValid(request.format())) {
    return absl::OkStatus();
  }
  return BadField("format", "is no format", "use JSON_LINES or CSV");
}

// --- ImportanceService ---

absl::Status CheckBesides(const v1::CompareTrialsRequest& request) {
  const int count = request.contenders_size();
  if (count < 2) {
    return BadField("contenders", absl::StrCat("there are ", count),
                    "name two or more");
  }
  for (const v1::Contender& contender : request.contenders()) {
    if (!contender.trials().empty()) continue;
    return BadField("contenders.trials", "it is empty",
                    "name a trial of each contender");
  }
  if (std::isfinite(request.margin()) && request.margin() >= 0.0) {
    return absl::OkStatus();
  }
  return BadField("margin", absl::StrCat("it is ", request.margin()),
                  "give a finite number of at least 0");
}

// --- WorkerService ---

namespace {

// Checks the form only; whether it is a certificate request shows when it is
// read.
absl::Status CheckCertificateRequest(const std::string& text) {
  if (!text.empty()) return absl::OkStatus();
  return BadField("certificate_request", "is missing",
                  "send a PKCS #10 request in PEM form");
}

absl::Status CheckFits(const google::protobuf::Duration& wait,
                       Duration time_left) {
  if (proto::DurationFromProto(wait) <= time_left) return absl::OkStatus();
  return BadField("wait", "is longer than the call's deadline",
                  "wait at least 1 s less than the deadline");
}

absl::Status CheckEachOnce(
    const google::protobuf::RepeatedPtrField<v1::StockItem>& items,
    const std::string& field) {
  std::set<std::string> ids;
  for (int i = 0; i < items.size(); ++i) {
    if (ids.insert(items[i].id()).second) continue;
    return BadField(absl::StrCat(field, "[", i, "].id"), "is there twice",
                    "name each id once");
  }
  return absl::OkStatus();
}

absl::Status CheckEachGpuOnce(const v1::NodeLoad& load) {
  std::set<std::string> uuids;
  for (int i = 0; i < load.gpus_size(); ++i) {
    if (uuids.insert(load.gpus(i).uuid()).second) continue;
    return BadField(absl::StrCat("load.gpus[", i, "].uuid"), "is there twice",
                    "name each GPU once");
  }
  return absl::OkStatus();
}

constexpr const char* kPhases[] = {"",         "loading",    "filling",
                                   "training", "evaluating", "saving"};

absl::Status CheckPhase(const std::string& phase, const std::string& field) {
  if (std::count(std::begin(kPhases), std::end(kPhases), phase) > 0) {
    return absl::OkStatus();
  }
  return BadField(field, "is no phase",
                  "say loading, filling, training, evaluating or saving, or "
                  "leave it out");
}

absl::Status CheckOutcome(const v1::Outcome& outcome) {
  if (outcome.kind() == v1::Outcome::KIND_UNSPECIFIED ||
      !v1::Outcome::Kind_IsValid(outcome.kind())) {
    return BadField("outcome.kind", "does not say how the trial ended",
                    "use SUCCEEDED, PRUNED, INFEASIBLE, FAILED or CANCELLED");
  }
  if (!v1::FailureClass_IsValid(outcome.failure())) {
    return BadField("outcome.failure", "is no failure class",
                    "say who is to blame: the trial, memory or infrastructure");
  }
  return CheckExamples(outcome);
}

}  // namespace

absl::Status CheckBesides(const v1::RegisterRequest& request) {
  const v1::Stock& stock = request.worker().stock();
  RETURN_IF_ERROR(CheckEachOnce(stock.models(), "worker.stock.models"));
  return CheckEachOnce(stock.data_sets(), "worker.stock.data_sets");
}

absl::Status CheckWait(const v1::AcquireRequest& request, Duration time_left) {
  return CheckFits(request.wait(), time_left);
}

absl::Status CheckWait(const v1::ListenRequest& request, Duration time_left) {
  return CheckFits(request.wait(), time_left);
}

absl::Status CheckWait(const v1::GetStudyDeltaRequest& request,
                       Duration time_left) {
  return CheckFits(request.wait(), time_left);
}

absl::Status CheckWait(const v1::GetTrialLogRequest& request,
                       Duration time_left) {
  return CheckFits(request.wait(), time_left);
}

absl::Status CheckWait(const v1::ReadPredictionsRequest& request,
                       Duration time_left) {
  return CheckFits(request.wait(), time_left);
}

absl::Status CheckBesides(const v1::HeartbeatRequest& request) {
  RETURN_IF_ERROR(CheckEachGpuOnce(request.load()));
  for (int i = 0; i < request.leases_size(); ++i) {
    RETURN_IF_ERROR(CheckPhase(request.leases(i).progress().phase(),
                               absl::StrCat("leases[", i, "].progress.phase")));
  }
  return absl::OkStatus();
}

absl::Status CheckBesides(const v1::FinishRequest& request) {
  return CheckOutcome(request.outcome());
}

absl::Status CheckBesides(const v1::ReleaseRequest& request) {
  if (request.reason() != v1::ReleaseRequest::REASON_UNSPECIFIED &&
      v1::ReleaseRequest::Reason_IsValid(request.reason())) {
    return absl::OkStatus();
  }
  return BadField("reason", "does not say why the trial comes back",
                  "use UNRUN, PREEMPTED, DRAINED or NOT_IN_STOCK");
}

absl::Status CheckBesides(const v1::JoinRequest& request) {
  return CheckCertificateRequest(request.certificate_request());
}

absl::Status CheckBesides(const v1::RenewCertificateRequest& request) {
  return CheckCertificateRequest(request.certificate_request());
}

namespace {

constexpr std::int64_t kApart = 1;

struct Minor {
  std::int32_t major = 0;
  std::int32_t minor = 0;
};

// Returns major and minor version: "0.4.2" and "0.4.2~rc1" are of 0.4.
std::optional<Minor> MinorOf(const std::string& version) {
  const std::vector<absl::string_view> parts = absl::StrSplit(version, '.');
  Minor minor;
  const bool reads = parts.size() >= 2 &&
                     absl::SimpleAtoi(parts[0], &minor.major) &&
                     absl::SimpleAtoi(parts[1], &minor.minor) &&
                     minor.major >= 0 && minor.minor >= 0;
  return reads ? std::optional<Minor>(minor) : std::nullopt;
}

}  // namespace

absl::Status CheckWorkerVersion(const std::string& workers,
                                const std::string& ours) {
  const std::optional<Minor> theirs = MinorOf(workers);
  const std::optional<Minor> own = MinorOf(ours);
  if (!theirs.has_value() || !own.has_value()) return absl::OkStatus();
  const std::int64_t apart =
      std::int64_t{theirs->minor} - std::int64_t{own->minor};
  if (theirs->major == own->major && std::abs(apart) <= kApart) {
    return absl::OkStatus();
  }
  const auto line = [&own](std::int64_t minor) {
    return absl::StrCat(own->major, ".", minor);
  };
  return BadField(
      "worker.version",
      absl::StrCat("is ", theirs->major, ".", theirs->minor,
                   ", but this coordinator, ", ours, ", serves workers of ",
                   line(std::max<std::int64_t>(0, own->minor - kApart)), " to ",
                   line(own->minor + kApart)),
      absl::StrCat("start a worker of ", line(own->minor),
                   ": another image or package; or upgrade the coordinator"));
}

// --- AdminService ---

namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kLongestLifetime = 3'650 * kDay;
constexpr std::int64_t kLongestInvitation = kDay;
// For one worker by name, which may wait in a site's queue before it uses the
// token.
constexpr std::int64_t kLongestOfOneWorker = 90 * kDay;
constexpr std::size_t kMaxSubjectBytes = 128;
constexpr char kWorkers[] = "workers/";

absl::Status CheckSubject(const v1::CreateTokenRequest& request) {
  const std::string& subject = request.subject();
  const bool of_worker = subject.rfind(kWorkers, 0) == 0;
  if (request.role() == v1::ROLE_WORKER) {
    if (subject.empty()) return absl::OkStatus();
    return proto::CheckWorkerName(subject, "subject");
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

absl::Status CheckBesides(const v1::CreateTokenRequest& request) {
  if (request.role() < v1::ROLE_ADMIN || request.role() > v1::ROLE_VIEWER) {
    return BadField("role", "is none",
                    "give admin, researcher, worker or viewer");
  }
  RETURN_IF_ERROR(CheckSubject(request));
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
  return proto::CheckDuration(
      request.lifetime(),
      request.single_use() ? longest_invitation : kLongestLifetime, "lifetime");
}

absl::Status CheckBesides(const v1::RevokeCertificatesRequest& request) {
  if (request.sha256().empty() == request.subject().empty()) {
    return BadField("sha256", "and subject are both given, or neither is",
                    "say which certificate, or whose");
  }
  if (request.sha256().empty() || IsSha256(request.sha256())) {
    return absl::OkStatus();
  }
  return BadField("sha256", "is not 64 lower-case hex digits",
                  "`frostline cert list` shows them");
}

}  // namespace frostline::server
