// SPDX-License-Identifier: Apache-2.0
#include "server/wire/validate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "importance/measure/evaluate_options.h"
#include "importance/ranking.h"
#include "proto/wire_values.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"
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

namespace {

constexpr std::size_t kMaxPrecisionBytes = 16;
constexpr std::int64_t kMaxPrecisions = 8;

constexpr std::int64_t kMaxLeases = 64;
constexpr std::int64_t kMaxHeldPrefixes = 64;
constexpr std::int64_t kMaxBeats = 1024;
constexpr std::int64_t kMaxStockItems = 1024;
constexpr std::int64_t kMaxLeftLogs = 8;
constexpr std::size_t kMaxSeen = 128;
constexpr std::size_t kMaxCertificateRequest = 8 * 1024;
constexpr std::int64_t kMaxGpus = 64;
constexpr std::int64_t kMaxGpuMemory = std::int64_t{1} << 50;
constexpr double kMaxGpuWatts = 1e5;
constexpr double kColdest = -273.15;  // of degrees Celsius
constexpr double kHottest = 1000;
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

// Checks the size only; whether it is a certificate request shows when it is
// read.
absl::Status CheckCertificateRequest(const std::string& text) {
  if (text.empty()) {
    return BadField("certificate_request", "is missing",
                    "send a PKCS #10 request in PEM form");
  }
  return CheckBytes(text, kMaxCertificateRequest, "certificate_request");
}

absl::Status CheckFits(const google::protobuf::Duration& wait,
                       Duration time_left) {
  if (proto::DurationFromProto(wait) <= time_left) return absl::OkStatus();
  return BadField("wait", "is longer than the call's deadline",
                  "wait at least 1 s less than the deadline");
}

absl::Status CheckItems(
    const google::protobuf::RepeatedPtrField<v1::StockItem>& items,
    const std::string& field) {
  RETURN_IF_ERROR(CheckCount(items.size(), kMaxStockItems, field));
  std::set<std::string> ids;
  for (int i = 0; i < items.size(); ++i) {
    const std::string item = absl::StrCat(field, "[", i, "]");
    RETURN_IF_ERROR(CheckId(items[i].id(), item + ".id"));
    if (!items[i].sha256().empty() && !IsSha256(items[i].sha256())) {
      return BadField(item + ".sha256", "is not 64 lower-case hex digits",
                      "give the sum that the registry has, or none");
    }
    if (!ids.insert(items[i].id()).second) {
      return BadField(item + ".id", "is there twice", "name each id once");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGpuLoad(const v1::GpuLoad& gpu, const std::string& field) {
  RETURN_IF_ERROR(CheckToken(gpu.uuid(), field + ".uuid"));
  RETURN_IF_ERROR(CheckWithin(gpu.utilization(), 0, 1, field + ".utilization"));
  RETURN_IF_ERROR(CheckRange(gpu.memory_used_bytes(), 0, kMaxGpuMemory,
                             field + ".memory_used_bytes"));
  RETURN_IF_ERROR(CheckRange(gpu.memory_total_bytes(), 0, kMaxGpuMemory,
                             field + ".memory_total_bytes"));
  RETURN_IF_ERROR(
      CheckWithin(gpu.power_watts(), 0, kMaxGpuWatts, field + ".power_watts"));
  return CheckWithin(gpu.temperature_celsius(), kColdest, kHottest,
                     field + ".temperature_celsius");
}

absl::Status CheckLoad(const v1::NodeLoad& load) {
  RETURN_IF_ERROR(CheckWithin(load.cpu_share(), 0, 1, "load.cpu_share"));
  RETURN_IF_ERROR(
      CheckRange(load.memory_free_bytes(), 0, kAny, "load.memory_free_bytes"));
  RETURN_IF_ERROR(
      CheckRange(load.disk_free_bytes(), 0, kAny, "load.disk_free_bytes"));
  RETURN_IF_ERROR(CheckCount(load.gpus_size(), kMaxGpus, "load.gpus"));
  std::set<std::string> uuids;
  for (int i = 0; i < load.gpus_size(); ++i) {
    const std::string field = absl::StrCat("load.gpus[", i, "]");
    RETURN_IF_ERROR(CheckGpuLoad(load.gpus(i), field));
    if (!uuids.insert(load.gpus(i).uuid()).second) {
      return BadField(field + ".uuid", "is there twice", "name each GPU once");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Validate(const v1::RegisterRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckId(request.worker_id(), "worker_id"));
  RETURN_IF_ERROR(CheckToken(request.worker().boot_id(), "worker.boot_id"));
  RETURN_IF_ERROR(
      CheckRange(request.worker().slots(), 1, kMaxSlots, "worker.slots"));
  RETURN_IF_ERROR(CheckLabels(request.worker().labels(), "worker.labels"));
  RETURN_IF_ERROR(CheckBytes(request.worker().run_folder(), kMaxReasonBytes,
                             "worker.run_folder"));
  RETURN_IF_ERROR(CheckCount(request.worker().hardware().gpus_size(), kMaxGpus,
                             "worker.hardware.gpus"));
  RETURN_IF_ERROR(
      CheckCount(request.left_logs_size(), kMaxLeftLogs, "left_logs"));
  for (int i = 0; i < request.left_logs_size(); ++i) {
    const v1::LeftLog& log = request.left_logs(i);
    const std::string field = absl::StrCat("left_logs[", i, "]");
    RETURN_IF_ERROR(CheckLease(log.lease(), field + ".lease"));
    RETURN_IF_ERROR(CheckLogTail(log.tail(), field + ".tail"));
    RETURN_IF_ERROR(CheckLogPlace(log.place(), field + ".place"));
  }
  RETURN_IF_ERROR(CheckCount(request.worker().precisions_size(), kMaxPrecisions,
                             "worker.precisions"));
  for (const std::string& precision : request.worker().precisions()) {
    RETURN_IF_ERROR(
        CheckBytes(precision, kMaxPrecisionBytes, "worker.precisions"));
  }
  const v1::Stock& stock = request.worker().stock();
  RETURN_IF_ERROR(CheckItems(stock.models(), "worker.stock.models"));
  return CheckItems(stock.data_sets(), "worker.stock.data_sets");
}

absl::Status Validate(const v1::AcquireRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckWorkerName(request.worker(), "worker"));
  RETURN_IF_ERROR(CheckToken(request.boot_id(), "boot_id"));
  RETURN_IF_ERROR(
      CheckRange(request.max_leases(), 1, kMaxLeases, "max_leases"));
  RETURN_IF_ERROR(CheckDuration(request.wait(), kLongestWaitSeconds, "wait"));
  if (!request.study().empty()) {
    RETURN_IF_ERROR(CheckStudyName(request.study(), "study"));
  }
  return CheckCount(request.held_prefixes_size(), kMaxHeldPrefixes,
                    "held_prefixes");
}

absl::Status CheckWait(const v1::AcquireRequest& request, Duration time_left) {
  return CheckFits(request.wait(), time_left);
}

absl::Status CheckWait(const v1::ListenRequest& request, Duration time_left) {
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

absl::Status Validate(const v1::SendPredictionsRequest& request) {
  RETURN_IF_ERROR(CheckWorkerName(request.worker(), "worker"));
  RETURN_IF_ERROR(CheckToken(request.boot_id(), "boot_id"));
  RETURN_IF_ERROR(CheckToken(request.wish(), "wish"));
  RETURN_IF_ERROR(CheckBytes(request.piece(), kMaxPieceBytes, "piece"));
  RETURN_IF_ERROR(CheckRange(request.size(), 0, kAny, "size"));
  RETURN_IF_ERROR(
      CheckCount(request.examples_size(), kMaxExampleTexts, "examples"));
  RETURN_IF_ERROR(CheckBytes(request.path(), kMaxReasonBytes, "path"));
  return CheckCause(request.gone(), "gone");
}

absl::Status Validate(const v1::HeartbeatRequest& request) {
  RETURN_IF_ERROR(CheckWorkerName(request.worker(), "worker"));
  RETURN_IF_ERROR(CheckToken(request.boot_id(), "boot_id"));
  RETURN_IF_ERROR(CheckRange(request.sequence(), 0, kAny, "sequence"));
  RETURN_IF_ERROR(CheckCount(request.leases_size(), kMaxBeats, "leases"));
  RETURN_IF_ERROR(CheckLoad(request.load()));
  for (int i = 0; i < request.leases_size(); ++i) {
    const std::string field = absl::StrCat("leases[", i, "]");
    RETURN_IF_ERROR(CheckLease(request.leases(i).lease(), field + ".lease"));
    RETURN_IF_ERROR(
        CheckLogTail(request.leases(i).log_tail(), field + ".log_tail"));
    RETURN_IF_ERROR(
        CheckRange(request.leases(i).log_end(), 0, kAny, field + ".log_end"));
    RETURN_IF_ERROR(
        CheckProgress(request.leases(i).progress(), field + ".progress"));
  }
  return absl::OkStatus();
}

absl::Status Validate(const v1::ListenRequest& request) {
  RETURN_IF_ERROR(CheckWorkerName(request.worker(), "worker"));
  RETURN_IF_ERROR(CheckToken(request.boot_id(), "boot_id"));
  RETURN_IF_ERROR(CheckDuration(request.wait(), kLongestWaitSeconds, "wait"));
  return CheckBytes(request.seen(), kMaxSeen, "seen");
}

absl::Status Validate(const v1::ReportRequest& request) {
  RETURN_IF_ERROR(CheckLease(request.lease(), "lease"));
  RETURN_IF_ERROR(CheckRange(request.sequence(), 1, kAny, "sequence"));
  RETURN_IF_ERROR(
      CheckBytes(request.precision(), kMaxPrecisionBytes, "precision"));
  return CheckMeasurements(request.measurements());
}

absl::Status Validate(const v1::FinishRequest& request) {
  RETURN_IF_ERROR(CheckLease(request.lease(), "lease"));
  RETURN_IF_ERROR(CheckOutcome(request.outcome()));
  RETURN_IF_ERROR(CheckLogPlace(request.log_place(), "log_place"));
  return CheckMeasurements(request.measurements());
}

absl::Status Validate(const v1::ReleaseRequest& request) {
  RETURN_IF_ERROR(CheckLease(request.lease(), "lease"));
  if (request.reason() == v1::ReleaseRequest::REASON_UNSPECIFIED ||
      !v1::ReleaseRequest::Reason_IsValid(request.reason())) {
    return BadField("reason", "does not say why the trial comes back",
                    "use UNRUN, PREEMPTED, DRAINED or NOT_IN_STOCK");
  }
  RETURN_IF_ERROR(CheckCause(request.detail(), "detail"));
  RETURN_IF_ERROR(CheckLogTail(request.log_tail(), "log_tail"));
  RETURN_IF_ERROR(CheckLogPlace(request.log_place(), "log_place"));
  return CheckMeasurements(request.measurements());
}

absl::Status Validate(const v1::ListWorkersRequest& request) {
  return CheckPage(request.page_size(), request.page_token(), request.filter());
}

absl::Status Validate(const v1::DrainWorkerRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckWorkerName(request.worker(), "worker"));
  return CheckCause(request.reason(), "reason");
}

absl::Status Validate(const v1::JoinRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  RETURN_IF_ERROR(CheckId(request.worker_id(), "worker_id"));
  return CheckCertificateRequest(request.certificate_request());
}

absl::Status Validate(const v1::RenewCertificateRequest& request) {
  RETURN_IF_ERROR(CheckRequestId(request.request_id()));
  return CheckCertificateRequest(request.certificate_request());
}

// Requests of AdminService.

namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kLongestLifetime = 3'650 * kDay;
constexpr std::int64_t kLongestOverlap = 30 * kDay;
constexpr std::size_t kMaxSubjectBytes = 128;
constexpr std::int64_t kLongestInvitation = kDay;
// For one worker by name, which may wait in a site's queue before it uses the
// token.
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
