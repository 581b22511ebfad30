// SPDX-License-Identifier: Apache-2.0
//
// File: metric_range.h
//
// What values a metric can take. A prediction outside says that the model knows
// less than the reader.
#ifndef FROSTLINE_STUDY_METRIC_RANGE_H_
#define FROSTLINE_STUDY_METRIC_RANGE_H_

#include <limits>
#include <string>

namespace frostline {

// Both ends included; an infinite end is open.
struct MetricRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool IsBoundedBelow() const;
  bool IsBoundedAbove() const;
  bool IsBounded() const { return IsBoundedBelow() || IsBoundedAbove(); }
  // Inside, or outside by the rounding of sums in single precision. Infinity is
  // held by an open end, NaN never.
  bool Holds(double value) const;
  double Clamp(double value) const;

  friend bool operator==(const MetricRange&, const MetricRange&) = default;
};

// By the name: accuracy, F1, precision and recall are in 0 … 1, correlations in
// -1 … 1, R² at most 1, errors, losses, seconds and counts 0 or more; others
// ("auc" is often in points of 100) are unknown. What stands before the last
// '.' or '/' (`validation/f1`) and a split (`val_loss`) are skipped.
// EffectiveRange (objective.h) says when it counts.
MetricRange PresumedRange(const std::string& metric);

// "0 … 1", "0 or more", "at most 1", "any number".
std::string DescribeRange(const MetricRange& range);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_METRIC_RANGE_H_
