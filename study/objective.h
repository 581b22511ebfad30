// SPDX-License-Identifier: Apache-2.0
//
// File: objective.h
//
// What a study optimises: one or several named metrics with a direction, and
// the range that a metric stays in.
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
  // As the study states it; nothing: it says nothing.
  std::optional<MetricRange> range = std::nullopt;
};

// `value` with a sign such that smaller is better.
inline double AsLoss(const Objective& objective, double value) {
  return objective.direction == Direction::kMinimize ? value : -value;
}

// Whether losses `a` are nowhere worse than `b`, and somewhere better.
bool Dominates(const std::vector<double>& a, const std::vector<double>& b);

// At least one, each metric named and named once; the ends of a stated range
// finite or absent, and lo < hi.
absl::Status CheckObjectives(const std::vector<Objective>& objectives);

enum class RangeSource {
  kUnknown,   // nothing is known: any number
  kPresumed,  // from the metric's name
  kStated,    // by the study
};

// The range that predictions of a metric are to stay in.
struct RangeInForce {
  MetricRange range;  // anything, once it was broken
  RangeSource source = RangeSource::kUnknown;
  // What was stated or presumed, whether or not it still counts.
  MetricRange claimed;
  // Index in `seen` of the first value outside, and the value.
  std::optional<std::size_t> broken_by;
  double broken_value = 0.0;
};

// What the study states goes before what the name lets presume. One finite
// value of `seen` outside drops it: what happened is possible. Values that are
// not finite say nothing of the range.
RangeInForce EffectiveRange(const Objective& objective,
                            const std::vector<double>& seen);

// "trial 7 has accuracy 93.4, outside of the presumed 0 … 1: …", for a warning
// METRIC_OUT_OF_RANGE. REQUIRES: the range was broken, by trial `number`.
std::string OutOfRangeSentence(const Objective& objective,
                               const RangeInForce& range, std::int64_t number);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_OBJECTIVE_H_
