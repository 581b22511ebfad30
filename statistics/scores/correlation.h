// SPDX-License-Identifier: Apache-2.0
//
// File: correlation.h
//
// Scores predicted numbers. Sums run in one order and about the mean, whatever
// the batches. `times` says how often each pair counts; empty means once.
#ifndef FROSTLINE_STATISTICS_SCORES_CORRELATION_H_
#define FROSTLINE_STATISTICS_SCORES_CORRELATION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace frostline::statistics {

using Times = std::span<const std::uint32_t>;

// Sizes must be equal. There is no result for no pairs. A correlation has none
// either for a single pair, a constant side or a number that is not finite.
std::optional<double> MeanSquaredError(std::span<const double> truth,
                                       std::span<const double> prediction,
                                       Times times = {});
std::optional<double> Pearson(std::span<const double> truth,
                              std::span<const double> prediction,
                              Times times = {});
// Returns Pearson's correlation of the ranks; equal numbers share their mean
// rank.
std::optional<double> Spearman(std::span<const double> truth,
                               std::span<const double> prediction);

// Computes Spearman's correlation of many resamples with one sort. The two
// spans must outlive it.
class ResampledSpearman {
 public:
  ResampledSpearman(std::span<const double> truth,
                    std::span<const double> prediction);

  std::optional<double> At(Times times) const;

 private:
  std::span<const double> truth_;
  std::span<const double> prediction_;
  bool finite_;
  std::vector<std::size_t> truth_order_;  // by rising number
  std::vector<std::size_t> prediction_order_;
};

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_SCORES_CORRELATION_H_
