// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/curve_limit.h"

#include <algorithm>

#include "base/error.h"
#include "server/wire/limits.h"
#include "server/wire/measurement_rows.h"

namespace frostline::server {

CurveLimit::CurveLimit(RunningTrials& running, const storage::TrialRow& row,
                       std::int64_t attempt)
    : running_(running),
      trial_{row.study, row.number},
      attempt_(attempt),
      last_step_(row.attempt == attempt ? std::optional(row.last_step)
                                        : std::nullopt) {}

// Reports are repeated when an answer was lost.
std::int64_t CurveLimit::CountNew(
    const std::vector<storage::MeasurementRow>& measured,
    std::int64_t last_step) {
  return std::count_if(measured.begin(), measured.end(), [&](const auto& row) {
    return row.measurement.step > last_step;
  });
}

std::optional<std::int64_t> CurveLimit::Known() const {
  return last_step_ == -1 ? std::optional<std::int64_t>(0)
                          : running_.StepsOf(trial_, attempt_);
}

absl::StatusOr<StoredRows::Curve> CurveLimit::Read(StoredRows& rows) {
  const StoredRows::Curve* const curve = rows.CurveOf(trial_, attempt_);
  if (curve == nullptr) return absl::UnavailableError("read first");
  RETURN_IF_ERROR(curve->status);
  // Else the last group was not to be seen yet.
  if (curve->last_step == last_step_) {
    running_.NoteSteps(trial_, attempt_, curve->steps);
  }
  return *curve;
}

absl::Status CurveLimit::Check(
    const std::vector<storage::MeasurementRow>& measured, StoredRows& rows) {
  const std::int64_t fresh = CountNew(measured, last_step_.value_or(-1));
  if (fresh == 0) return absl::OkStatus();
  const std::optional<std::int64_t> stored = Known();
  if (stored.has_value()) return CheckCurve(*stored + fresh, "measurements");
  if (measured.back().measurement.step < kMaxCurveSteps) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const StoredRows::Curve curve, Read(rows));
  const std::int64_t last_step = last_step_.value_or(curve.last_step);
  return CheckCurve(curve.steps + CountNew(measured, last_step),
                    "measurements");
}

void CurveLimit::NoteStored(
    const std::vector<storage::MeasurementRow>& measured) {
  const std::optional<std::int64_t> stored = Known();
  if (!stored.has_value()) return;
  running_.NoteSteps(trial_, attempt_,
                     *stored + CountNew(measured, last_step_.value_or(-1)));
}

}  // namespace frostline::server
