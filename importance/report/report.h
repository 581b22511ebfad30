// SPDX-License-Identifier: Apache-2.0
//
// File: report.h
//
// What an importance evaluator answers: plain numbers with their uncertainty.
#ifndef FROSTLINE_IMPORTANCE_REPORT_REPORT_H_
#define FROSTLINE_IMPORTANCE_REPORT_REPORT_H_

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "importance/measure/interval.h"

namespace frostline::importance {

struct ParameterImportance {
  int parameter = 0;  // index in the space
  Interval main;      // share of the target's variance, main effect
  Interval total;     // with all interactions it takes part in; NaN where the
                      // evaluator knows none
  // Rank correlation along the marginal curve: above 0, higher values are
  // better (whatever the objective's direction). NaN for categorical ones, and
  // where the evaluator has no curve.
  double direction = 0.0;
  // That the direction is what its sign says; NaN: not known.
  double direction_probability = std::numeric_limits<double>::quiet_NaN();
  int rank = 0;                   // 1 is the most important
  double top3_probability = 0.0;  // over bootstraps
  bool distinguishable = false;   // its interval is clear of what chance gives
};

struct PairImportance {
  int first = 0;
  int second = 0;
  Interval share;  // beyond both main effects
  // That they are substitutes (training either suffices) rather than
  // complements (it takes both); NaN: not known.
  double substitutes_probability = std::numeric_limits<double>::quiet_NaN();
};

// The pair that a set of two is, in any order; nullptr: of another size, or not
// in the list.
const PairImportance* FindPair(const std::vector<PairImportance>& pairs,
                               const std::vector<int>& subset);

// Parameters of neighbouring modules (depth.h): what they explain together,
// pairs within the group among it.
struct GroupImportance {
  std::string group;  // "embeddings", "lower", "middle", "upper", "head"
  Interval share;
};

// A set of parameters that was asked for.
struct SubsetImportance {
  std::vector<int> parameters;  // as asked for
  Interval together;            // with all effects among them
  Interval beyond;  // what they have all together and no smaller set has
};

struct ReportWarning {
  std::string code;  // "FEW_TRIALS", "METRIC_OUT_OF_RANGE", … (warnings.h)
  std::string sentence;
  std::vector<int> parameters;
};

struct Report {
  std::int64_t trials_used = 0;
  std::int64_t trials_left_out = 0;
  std::vector<ParameterImportance> parameters;  // in the space's order
  std::vector<PairImportance> pairs;            // strongest first
  std::vector<GroupImportance> groups;    // in depth order; of those there are
  std::vector<SubsetImportance> subsets;  // as asked for
  Interval unexplained;
  // Main shares that are about equally likely, by parameter; the intervals are
  // taken from them. Empty without intervals.
  std::vector<std::vector<double>> main_draws;
  // Whether trials that could not be trained count, as bad as the worst.
  bool diverged_inform = false;
  // What carried the prediction: "main effects", "interactions", "gaussian
  // process", "forest"; their shares of the variance that is predicted of
  // trials not seen. Empty where the evaluator predicts nothing.
  std::vector<std::pair<std::string, double>> carried_by;
  // Fit on trials that were not seen; below about 0.3 believe little. NaN
  // where the evaluator predicts nothing.
  double out_of_bag_r2 = 0.0;
  // Variance of the target among repeated points; NaN: none was repeated.
  double noise_variance = 0.0;
  // Part of the trials' variance that is taken for noise, and kept out of all
  // shares; NaN where the evaluator cannot tell.
  double noise_share = 0.0;
  std::vector<ReportWarning> warnings;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_REPORT_H_
