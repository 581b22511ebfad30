// SPDX-License-Identifier: Apache-2.0
//
// File: curve_limit.h
//
// Keeps an attempt's curve at kMaxCurveSteps. Steps are counted as they come.
// After a start nobody has counted: since steps rise from 0, a curve whose last
// step is low has room anyway, and any other is counted in the store, once.
#ifndef FROSTLINE_SERVER_LEDGER_CURVE_LIMIT_H_
#define FROSTLINE_SERVER_LEDGER_CURVE_LIMIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/ledger/running_trials.h"
#include "server/ledger/stored_rows.h"

namespace frostline::server {

// It belongs to one call, and borrows `running`.
class CurveLimit {
 public:
  // `row` is as it was before the call.
  CurveLimit(RunningTrials& running, const storage::TrialRow& row,
             std::int64_t attempt);

  // Answers FIELD_TOO_LARGE when these would make the curve too long. As
  // StoredRows does, it may have to be asked again once more was read.
  absl::Status Check(const std::vector<storage::MeasurementRow>& measured,
                     StoredRows& rows);
  // They have been written.
  void NoteStored(const std::vector<storage::MeasurementRow>& measured);

 private:
  static std::int64_t CountNew(
      const std::vector<storage::MeasurementRow>& measured,
      std::int64_t last_step);
  // Counts what is stored, as far as that is known.
  std::optional<std::int64_t> Known() const;
  absl::StatusOr<StoredRows::Curve> Read(StoredRows& rows);

  RunningTrials& running_;
  const TrialKey trial_;
  const std::int64_t attempt_;
  // Nothing is known of an attempt that is not the trial's newest: only its
  // stored curve says which of its steps are new.
  const std::optional<std::int64_t> last_step_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_CURVE_LIMIT_H_
