// SPDX-License-Identifier: Apache-2.0
//
// File: outcome_rows.h
//
// A trial's result on each row of its evaluation set.
#ifndef FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_
#define FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// Empty where the data contradicts its encoding or count.
std::vector<float> RowsOf(const storage::OutcomeRow& outcome);

// Empty also unless the mean is the metric's `value`.
std::vector<float> RowsOfMean(const storage::OutcomeRow& outcome, double value);

// As the last trials with a result say it; 0: nothing is evaluated by rows, or
// the first value is no mean of them.
absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history);

// IEEE 754, binary16.
float FromHalf(std::uint16_t bits);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_
