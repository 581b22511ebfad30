// SPDX-License-Identifier: Apache-2.0
//
// File: correlation.h
//
// Scores predicted numbers. Sums run in one order and about the mean, whatever
// the batches.
#ifndef FROSTLINE_WORKER_TRAINER_TASKS_CORRELATION_H_
#define FROSTLINE_WORKER_TRAINER_TASKS_CORRELATION_H_

#include <optional>
#include <span>

namespace frostline::trainer {

// Sizes must be equal. No pairs have no result, nor has a correlation with a
// single pair, a constant side, or a number that is not finite.
std::optional<double> MeanSquaredError(std::span<const double> truth,
                                       std::span<const double> prediction);
std::optional<double> Pearson(std::span<const double> truth,
                              std::span<const double> prediction);
// It is Pearson's of the ranks; equal numbers share their mean rank.
std::optional<double> Spearman(std::span<const double> truth,
                               std::span<const double> prediction);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TASKS_CORRELATION_H_
