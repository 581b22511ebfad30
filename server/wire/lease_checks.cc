// SPDX-License-Identifier: Apache-2.0
#include "server/wire/lease_checks.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/wire/example_outcomes.h"
#include "server/wire/field_checks.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

constexpr const char* kPhases[] = {"",         "loading",    "filling",
                                   "training", "evaluating", "saving"};
// Beyond any training, and what every tool can show.
constexpr double kMostEpochs = 1e9;
constexpr double kMostStepsPerSecond = 1e9;
constexpr std::int64_t kLongestTraining = std::int64_t{100} * 366 * 86'400;
constexpr std::int64_t kAnyLease = std::numeric_limits<std::int64_t>::max();

using MetricMap = google::protobuf::Map<std::string, double>;

absl::Status CheckMetrics(const MetricMap& metrics, std::int64_t max,
                          const std::string& field) {
  RETURN_IF_ERROR(
      CheckCount(static_cast<std::int64_t>(metrics.size()), max, field));
  for (const auto& [name, value] : metrics) {
    if (name.empty()) {
      return BadField(field, "has a metric without a name",
                      "name every metric");
    }
    RETURN_IF_ERROR(CheckBytes(name, kMaxMetricNameBytes, field));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckLease(const v1::LeaseRef& lease, const std::string& field) {
  RETURN_IF_ERROR(CheckTrialName(lease.trial(), field + ".trial"));
  RETURN_IF_ERROR(
      CheckRange(lease.attempt(), 1, kAnyLease, field + ".attempt"));
  return CheckToken(lease.secret(), field + ".secret");
}

absl::Status CheckMeasurements(const Measurements& measurements) {
  RETURN_IF_ERROR(
      CheckCount(measurements.size(), kMaxMeasurementsAtOnce, "measurements"));
  for (int i = 0; i < measurements.size(); ++i) {
    const std::string field = absl::StrCat("measurements[", i, "]");
    RETURN_IF_ERROR(
        CheckRange(measurements[i].step(), 0, kAnyLease, field + ".step"));
    RETURN_IF_ERROR(CheckMetrics(measurements[i].metrics(), kMaxStepMetrics,
                                 field + ".metrics"));
  }
  return absl::OkStatus();
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
  RETURN_IF_ERROR(CheckFinalMetrics(outcome.metrics(), "outcome.metrics"));
  RETURN_IF_ERROR(CheckCause(outcome.cause(), "outcome.cause"));
  RETURN_IF_ERROR(CheckLogTail(outcome.log_tail(), "outcome.log_tail"));
  return CheckExamples(outcome);
}

absl::Status CheckLabels(const Labels& labels, const std::string& field) {
  RETURN_IF_ERROR(
      CheckCount(static_cast<std::int64_t>(labels.size()), kMaxLabels, field));
  for (const auto& [key, value] : labels) {
    if (key.empty()) {
      return BadField(field, "has a label without a key", "name every label");
    }
    RETURN_IF_ERROR(CheckBytes(key, kMaxLabelBytes, field));
    RETURN_IF_ERROR(CheckBytes(value, kMaxLabelBytes, field));
  }
  return absl::OkStatus();
}

absl::Status CheckFinalMetrics(const MetricMap& metrics,
                               const std::string& field) {
  return CheckMetrics(metrics, kMaxFinalMetrics, field);
}

absl::Status CheckTrialLabels(const Labels& labels, const std::string& field) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : labels) bytes += key.size() + value.size();
  if (bytes <= kMaxTrialLabelBytes) return absl::OkStatus();
  return MakeError(
      ErrorId::kFieldTooLarge, absl::StrCat(field, " have ", bytes, " bytes"),
      absl::StrCat("keep them within ", kMaxTrialLabelBytes), field);
}

absl::Status CheckLogTail(const std::string& tail, const std::string& field) {
  return CheckBytes(tail, kMaxLogTailBytes, field);
}

absl::Status CheckLogPlace(const v1::LogPlace& place,
                           const std::string& field) {
  RETURN_IF_ERROR(CheckBytes(place.host(), kMaxReasonBytes, field + ".host"));
  RETURN_IF_ERROR(CheckBytes(place.path(), kMaxReasonBytes, field + ".path"));
  return CheckRange(place.end(), 0, kAnyLease, field + ".end");
}

absl::Status CheckProgress(const v1::TrialProgress& progress,
                           const std::string& field) {
  const bool is_known =
      std::count(std::begin(kPhases), std::end(kPhases), progress.phase()) > 0;
  if (!is_known) {
    return BadField(field + ".phase", "is no phase",
                    "say loading, filling, training, evaluating or saving, or "
                    "leave it out");
  }
  RETURN_IF_ERROR(
      CheckWithin(progress.epoch(), 0, kMostEpochs, field + ".epoch"));
  RETURN_IF_ERROR(CheckWithin(progress.total_epochs(), 0, kMostEpochs,
                              field + ".total_epochs"));
  RETURN_IF_ERROR(CheckWithin(progress.steps_per_second(), 0,
                              kMostStepsPerSecond,
                              field + ".steps_per_second"));
  RETURN_IF_ERROR(CheckDuration(progress.remaining(), kLongestTraining,
                                field + ".remaining"));
  return CheckRange(progress.slot(), 0, kMaxSlots - 1, field + ".slot");
}

absl::Status CheckCause(const std::string& cause, const std::string& field) {
  return CheckBytes(cause, kMaxReasonBytes, field);
}

}  // namespace frostline::server
