// SPDX-License-Identifier: Apache-2.0
//
// File: outcome_rows.h
//
// What a trial came to on each row of its evaluation set, as numbers.
#ifndef FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_
#define FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

// Empty where the data is not what its encoding and count say.
std::vector<float> RowsOf(const storage::OutcomeRow& outcome);

// The same, but empty unless the metric's `value` is their mean.
std::vector<float> RowsOfMean(const storage::OutcomeRow& outcome, double value);

// How many rows evaluate, as the last trials that have a result say it; 0: they
// do not, or the first of `history`'s values is no mean of rows.
absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history);

// A half-precision number (IEEE 754, binary16).
float FromHalf(std::uint16_t bits);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_OUTCOME_ROWS_H_
