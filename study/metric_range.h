// SPDX-License-Identifier: Apache-2.0
//
// File: metric_range.h
//
// What values a metric can take: accuracy none above 1, a loss none below 0.
// A prediction outside says that the model knows less than the reader.
//
// Every function is pure: no state, any thread, nothing fails.
#ifndef FROSTLINE_STUDY_METRIC_RANGE_H_
#define FROSTLINE_STUDY_METRIC_RANGE_H_

#include <limits>
#include <string>

namespace frostline {

// From lo to hi, both included; an infinite end is open. As made: anything.
struct MetricRange {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool IsBoundedBelow() const;
  bool IsBoundedAbove() const;
  bool IsBounded() const { return IsBoundedBelow() || IsBoundedAbove(); }
  // Whether `value` is inside, or outside by no more than the rounding of a
  // program that sums in single precision (a correlation of 1.0000001). NaN
  // and the infinities are in no range but an open one, where infinity is.
  bool Holds(double value) const;
  // The nearest value that is inside.
  double Clamp(double value) const;

  friend bool operator==(const MetricRange&, const MetricRange&) = default;
};

// By the name alone: "accuracy", all F1s, precision and recall are in 0 … 1,
// "mcc" and the correlations in -1 … 1, errors, losses, seconds and counts
// above 0. What stands before the last '.' or '/' (`test.accuracy`,
// `validation/f1`) or is a split's name (`val_loss`) is skipped. Anything for
// other names: "auc" and "bleu" are points of 100 as often as not.
//
// Only a presumption: another program may report accuracy in percent. See
// EffectiveRange (objective.h).
MetricRange PresumedRange(const std::string& metric);

// "0 … 1", "0 or more", "at most 1", "any number".
std::string DescribeRange(const MetricRange& range);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_METRIC_RANGE_H_
