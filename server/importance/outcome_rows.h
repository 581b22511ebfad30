// SPDX-License-Identifier: Apache-2.0
//
// File: outcome_rows.h
//
// Reads a trial's result on each row of its evaluation set.
#ifndef FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_
#define FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// Returns none where the data contradicts its encoding or count.
std::vector<float> RowsOf(const storage::OutcomeRow& outcome);

// Returns none also unless the mean is the metric's `value`.
std::vector<float> RowsOfMean(const storage::OutcomeRow& outcome, double value);

// Asks the last trials with a result. 0 means that nothing is evaluated by
// rows, or the first value is no mean of them.
absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history);

// Reads binary16 of IEEE 754.
float FromHalf(std::uint16_t bits);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_
