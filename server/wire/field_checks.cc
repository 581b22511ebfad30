// SPDX-License-Identifier: Apache-2.0
#include "server/wire/field_checks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/wire/convert.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMinRequestId = 16;
constexpr std::size_t kMaxToken = 64;
constexpr std::size_t kMaxPageToken = 1024;
constexpr std::size_t kMaxFilter = 4096;

bool IsTokenChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Renames the field: base/ids.h always calls it "name".
absl::Status At(const absl::Status& status, const std::string& field) {
  if (status.ok()) return status;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  return MakeError(detail.id, std::string(status.message()), detail.fix, field);
}

absl::Status TooLarge(const std::string& field, const std::string& cause,
                      const std::string& fix) {
  return MakeError(ErrorId::kFieldTooLarge, absl::StrCat(field, " ", cause),
                   fix, field);
}

}  // namespace

absl::Status BadField(const std::string& field, const std::string& cause,
                      const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(field, " ", cause),
                   fix, field);
}

absl::Status CheckRequestId(const std::string& id) {
  if (id.size() >= kMinRequestId && id.size() <= kMaxToken &&
      std::all_of(id.begin(), id.end(), IsTokenChar)) {
    return absl::OkStatus();
  }
  return BadField("request_id",
                  id.empty() ? "is missing" : "is not of the right form",
                  "give 16 to 64 of A-Z, a-z, 0-9, '_', '-', drawn anew for "
                  "each request, e.g. a UUID4");
}

absl::Status CheckToken(const std::string& token, const std::string& field) {
  if (!token.empty() && token.size() <= kMaxToken &&
      std::all_of(token.begin(), token.end(),
                  [](char c) { return IsTokenChar(c) || c == '.'; })) {
    return absl::OkStatus();
  }
  return BadField(field,
                  token.empty() ? "is missing" : "is not of the right form",
                  "give 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'");
}

absl::Status CheckStudyName(const std::string& name, const std::string& field) {
  return At(ParseStudyName(name).status(), field);
}

absl::Status CheckTrialName(const std::string& name, const std::string& field) {
  return At(ParseTrialName(name).status(), field);
}

absl::Status CheckWorkerName(const std::string& name,
                             const std::string& field) {
  return At(ParseWorkerName(name).status(), field);
}

absl::Status CheckRange(std::int64_t value, std::int64_t lo, std::int64_t hi,
                        const std::string& field) {
  if (value >= lo && value <= hi) return absl::OkStatus();
  return BadField(field, absl::StrCat("is ", value),
                  absl::StrCat("give a number from ", lo, " to ", hi));
}

absl::Status CheckWithin(double value, double lo, double hi,
                         const std::string& field) {
  if (value >= lo && value <= hi) return absl::OkStatus();
  return BadField(field, "is out of its range",
                  absl::StrCat("give ", lo, " to ", hi, ", or leave it out"));
}

absl::Status CheckBytes(const std::string& text, std::size_t max,
                        const std::string& field) {
  if (text.size() <= max) return absl::OkStatus();
  return TooLarge(field, absl::StrCat("has ", text.size(), " bytes"),
                  absl::StrCat("keep it within ", max, " bytes"));
}

absl::Status CheckCount(std::int64_t count, std::int64_t max,
                        const std::string& field) {
  if (count <= max) return absl::OkStatus();
  return TooLarge(field, absl::StrCat("has ", count, " entries"),
                  absl::StrCat("send at most ", max, " at a time"));
}

absl::Status CheckDuration(const google::protobuf::Duration& duration,
                           std::int64_t max_seconds, const std::string& field) {
  const std::int64_t seconds = duration.seconds();
  const std::int32_t nanos = duration.nanos();
  const bool formed = nanos >= 0 && nanos < 1'000'000'000;
  if (formed && seconds >= 0 &&
      (seconds < max_seconds || (seconds == max_seconds && nanos == 0))) {
    return absl::OkStatus();
  }
  return BadField(field, absl::StrCat("is ", seconds, " s and ", nanos, " ns"),
                  absl::StrCat("give 0 to ", max_seconds, " s"));
}

absl::Status CheckPage(int page_size, const std::string& page_token,
                       const std::string& filter) {
  RETURN_IF_ERROR(CheckRange(page_size, 0, kMaxPageSize, "page_size"));
  if (page_token.size() > kMaxPageToken) {
    return MakeError(ErrorId::kPageTokenInvalid, "the page token is too long",
                     "send next_page_token as it came", "page_token");
  }
  if (filter.size() > kMaxFilter) {
    return MakeError(ErrorId::kFilterInvalid, "the filter is too long",
                     absl::StrCat("keep it within ", kMaxFilter, " bytes"),
                     "filter");
  }
  return absl::OkStatus();
}

namespace {

constexpr const char* kPhases[] = {"",         "loading",    "filling",
                                   "training", "evaluating", "saving"};
// Larger than any training needs, and small enough for every tool to show.
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

}  // namespace frostline::server
