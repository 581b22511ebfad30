// SPDX-License-Identifier: Apache-2.0
//
// File: metric_range.h
//
// A prediction outside of a metric's range says that the model knows less than
// the reader.
#ifndef FROSTLINE_STUDY_METRIC_RANGE_H_
#define FROSTLINE_STUDY_METRIC_RANGE_H_

#include <limits>
#include <string>

namespace frostline {

// Both ends are included; an infinite end is open.
struct MetricRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool IsBoundedBelow() const;
  bool IsBoundedAbove() const;
  bool IsBounded() const { return IsBoundedBelow() || IsBoundedAbove(); }
  // Allows for the rounding of sums in single precision. An open end holds
  // infinity; nothing holds NaN.
  bool Holds(double value) const;
  double Clamp(double value) const;

  friend bool operator==(const MetricRange&, const MetricRange&) = default;
};

// Goes by the name: accuracy, F1, precision and recall are in 0 … 1,
// correlations in -1 … 1, R² at most 1, errors, losses, seconds and counts 0 or
// more; others ("auc" is often in points of 100) are unknown. What stands
// before the last '.' or '/' (`validation/f1`) and a split (`val_loss`) are
// skipped. EffectiveRange (objective.h) says when it counts.
MetricRange PresumedRange(const std::string& metric);

// Says "0 … 1", "0 or more", "at most 1", "any number".
std::string DescribeRange(const MetricRange& range);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_METRIC_RANGE_H_
