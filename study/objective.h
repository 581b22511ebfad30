// SPDX-License-Identifier: Apache-2.0
//
// File: objective.h
//
// What a study is for: its objective, the range of a metric by its name, its
// purpose, and the bounds of its settings.
#ifndef FROSTLINE_STUDY_OBJECTIVE_H_
#define FROSTLINE_STUDY_OBJECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace frostline {

// The range of a metric keeps predictions from values that cannot be.

// The range of a metric. Both ends are included; an infinite end is open.
struct MetricRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool IsBoundedBelow() const;
  bool IsBoundedAbove() const;
  bool IsBounded() const { return IsBoundedBelow() || IsBoundedAbove(); }
  // Says whether the range holds a value, with room for the rounding of sums in
  // single precision. An open end holds
  // infinity; nothing holds NaN.
  bool Holds(double value) const;
  double Clamp(double value) const;

  friend bool operator==(const MetricRange&, const MetricRange&) = default;
};

// Returns the range that the name of a metric suggests: accuracy, F1, precision
// and recall are in 0 … 1, correlations in -1 … 1, R² at most 1, errors,
// losses, seconds and counts 0 or more; others ("auc" is often in points of
// 100) are unknown. What stands before the last '.' or '/' (`validation/f1`)
// and a split (`val_loss`) are skipped. EffectiveRange says when it counts.
MetricRange PresumedRange(const std::string& metric);

struct Objective;
// Returns the stated range, else the presumed one.
MetricRange ClaimedRange(const Objective& objective);

// Says "0 … 1", "0 or more", "at most 1", "any number".
std::string DescribeRange(const MetricRange& range);

enum class Direction { kMinimize, kMaximize };

struct Objective {
  std::string metric;
  Direction direction = Direction::kMinimize;
  std::optional<MetricRange> range = std::nullopt;
  // Smaller differences do not matter; 0: those that nobody could notice.
  double tolerance = 0.0;
};

// Returns a value of which smaller is better.
inline double AsLoss(const Objective& objective, double value) {
  return objective.direction == Direction::kMinimize ? value : -value;
}

// Says whether `a` is nowhere worse than `b` and somewhere better.
bool Dominates(const std::vector<double>& a, const std::vector<double>& b);

// Checks that there is an objective, that each metric comes once, and that a
// stated range has lo < hi and no NaN.
absl::Status CheckObjectives(const std::vector<Objective>& objectives);

enum class RangeSource {
  kUnknown,
  kPresumed,
  kStated,
};

// The range in which predictions have to stay.
struct RangeInForce {
  MetricRange range;  // anything, once it was broken
  RangeSource source = RangeSource::kUnknown;
  // The stated or presumed range, also if a value broke it.
  MetricRange claimed;
  // The index in `seen` of the first value outside.
  std::optional<std::size_t> broken_by;
  double broken_value = 0.0;
};

// Returns the range in force: the stated one, else the presumed one. A finite
// value of `seen` outside of it drops it, since what happened is possible.
RangeInForce EffectiveRange(const Objective& objective,
                            const std::vector<double>& seen);

// Says "trial 7 has accuracy 93.4, outside of the presumed 0 … 1: …".
// REQUIRES: trial `number` broke the range.
std::string OutOfRangeSentence(const Objective& objective,
                               const RangeInForce& range, std::int64_t number);

// A few values can ruin what all others say. Off the scale are, in a study of n
// values (losses: lower is better),
//
//   - those that the stated or presumed range does not hold, if they are at
//     most n / 10: more of them say that it is not the metric's range. One that
//     is better than a presumed range allows is further from the best of the
//     others than that is from the median, too
//   - at most n / 10 of the others that are worse than all that is left by more
//     than 20 times its range and 10 times its largest size
//
// A run of 1e6 among losses of .7 to 1 has diverged; an accuracy of 1.3 among
// others below 1 is a mistake of whoever reported it. Where freezing a layer
// takes an accuracy from .9 to .6, that is what the study is about.
enum class ValueScale { kOn, kOffBetter, kOffWorse };
std::vector<ValueScale> FindOffScale(const Objective& objective,
                                     const std::vector<double>& losses);

// What a study spends its trials on.
enum class Purpose {
  kBest,        // every trial for the best value
  kUnderstand,  // for what it tells about the answer
  kBoth,        // kBest, and kUnderstand while the search rests
};

// Returns "best", as in study files.
const char* NameOf(Purpose purpose);

// Returns what a purpose means, as half a sentence for people.
const char* MeaningOf(Purpose purpose);

// Says whether a metric is measured on the test split: "test.accuracy", or
// "sts.test.pearson" of a task.
bool IsOfTestSplit(std::string_view metric);

// Returns a warning about results of a study with such a metric.
std::string TestObjectiveSentence(std::string_view metric);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_OBJECTIVE_H_
