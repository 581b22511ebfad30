// SPDX-License-Identifier: Apache-2.0
//
// File: objective.h
#ifndef FROSTLINE_STUDY_OBJECTIVE_H_
#define FROSTLINE_STUDY_OBJECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "study/metric_range.h"

namespace frostline {

enum class Direction { kMinimize, kMaximize };

struct Objective {
  std::string metric;
  Direction direction = Direction::kMinimize;
  std::optional<MetricRange> range = std::nullopt;
};

// Smaller is better.
inline double AsLoss(const Objective& objective, double value) {
  return objective.direction == Direction::kMinimize ? value : -value;
}

// Says whether `a` is nowhere worse, and somewhere better.
bool Dominates(const std::vector<double>& a, const std::vector<double>& b);

// There are one or more, each metric once; a stated range has lo < hi and no
// NaN.
absl::Status CheckObjectives(const std::vector<Objective>& objectives);

enum class RangeSource {
  kUnknown,
  kPresumed,
  kStated,
};

// Predictions are to stay in this range.
struct RangeInForce {
  MetricRange range;  // anything, once it was broken
  RangeSource source = RangeSource::kUnknown;
  // It is there also where it was broken.
  MetricRange claimed;
  // Holds the first value outside, by its index in `seen`.
  std::optional<std::size_t> broken_by;
  double broken_value = 0.0;
};

// A stated range goes before a presumed one; a finite value of `seen` outside
// drops it, since what happened is possible.
RangeInForce EffectiveRange(const Objective& objective,
                            const std::vector<double>& seen);

// Says "trial 7 has accuracy 93.4, outside of the presumed 0 … 1: …".
// REQUIRES: trial `number` broke the range.
std::string OutOfRangeSentence(const Objective& objective,
                               const RangeInForce& range, std::int64_t number);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_OBJECTIVE_H_
