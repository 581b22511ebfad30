// SPDX-License-Identifier: Apache-2.0
#include "server/wire/measurement_rows.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/wire/convert.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

absl::Status TooMany(int count, int most, const char* what,
                     const std::string& field) {
  return MakeError(ErrorId::kFieldTooLarge, absl::StrCat(count, " ", what),
                   absl::StrCat("send at most ", most), field);
}

}  // namespace

absl::StatusOr<std::vector<storage::MeasurementRow>> MeasurementRows(
    const google::protobuf::RepeatedPtrField<v1::Measurement>& measurements,
    const storage::TrialRow& row, std::int64_t attempt,
    const std::string& field) {
  if (measurements.size() > kMaxMeasurementsAtOnce) {
    return TooMany(measurements.size(), kMaxMeasurementsAtOnce,
                   "measurements at once", field);
  }
  std::vector<storage::MeasurementRow> rows;
  std::int64_t last = -1;
  for (const v1::Measurement& proto : measurements) {
    const std::string here = absl::StrCat(field, "[", rows.size(), "]");
    if (proto.metrics_size() > kMaxStepMetrics) {
      return TooMany(proto.metrics_size(), kMaxStepMetrics, "metrics in a step",
                     here + ".metrics");
    }
    if (proto.step() <= last) {
      return MakeError(
          ErrorId::kStepOutOfOrder,
          absl::StrCat("step ", proto.step(), " comes after step ", last),
          "number the steps of an attempt upwards from 0", here + ".step");
    }
    last = proto.step();
    rows.push_back(
        {row.study, row.number, attempt, MeasurementFromProto(proto)});
  }
  return rows;
}

absl::Status CheckCurve(std::int64_t steps, const std::string& field) {
  if (steps <= kMaxCurveSteps) return absl::OkStatus();
  return MakeError(
      ErrorId::kFieldTooLarge,
      absl::StrCat("the curve of this attempt would have ", steps,
                   " steps, the most is ", kMaxCurveSteps),
      "report every n-th step; the trial goes on without the others", field);
}

}  // namespace frostline::server
