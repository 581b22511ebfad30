// SPDX-License-Identifier: Apache-2.0
//
// File: report.h
//
// What an evaluator answers: shares of parameters, pairs and groups, in order
// of depth, and warnings.
#ifndef FROSTLINE_IMPORTANCE_REPORT_H_
#define FROSTLINE_IMPORTANCE_REPORT_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "study/space.h"

namespace frostline::importance {

// Orders parameters by depth, which rises from embeddings over layers to pooler
// and head. A parameter of no module is placed by its own name, else last.

// Returns parameters by depth; one of several modules counts for the lowest.
std::vector<int> DepthOrder(const Space& space);

struct LayerGroup {
  // They come as "embeddings", "lower", "middle", "upper", "head".
  std::string name;
  std::vector<int> parameters;  // in depth order
};

// Cuts layers into thirds; "pooler" goes with "head". A parameter in several
// groups is in none.
std::vector<LayerGroup> LayerGroups(const Space& space);

struct ParameterImportance {
  int parameter = 0;
  Interval main;   // share of the target's variance
  Interval total;  // with all its interactions; NaN: unknown
  // Correlates ranks along the curve: above 0, higher values are better; NaN
  // for choices, and without a curve.
  double direction = 0.0;
  // It is the chance that its sign is right; NaN where unknown.
  double direction_probability = std::numeric_limits<double>::quiet_NaN();
  int rank = 0;                   // 1: the most important
  double top3_probability = 0.0;  // over draws
  bool distinguishable = false;   // more than chance gives
};

struct PairImportance {
  int first = 0;
  int second = 0;
  Interval share;  // beyond both main effects
  // It is the chance of substitutes (training either suffices), not
  // complements; NaN where unknown.
  double substitutes_probability = std::numeric_limits<double>::quiet_NaN();
};

// Finds the pair that a set is, in any order, or nullptr.
const PairImportance* FindPair(const std::vector<PairImportance>& pairs,
                               const std::vector<int>& subset);

// The share of neighbouring modules, pairs among them included.
struct GroupImportance {
  std::string group;  // "embeddings", "lower", …
  Interval share;
};

struct SubsetImportance {
  std::vector<int> parameters;  // as asked for
  Interval together;            // all effects among them
  Interval beyond;              // what only all of them have together
};

struct ReportWarning {
  std::string code;  // "FEW_TRIALS", …
  std::string sentence;
  std::vector<int> parameters;
};

struct Report {
  std::int64_t trials_used = 0;
  std::int64_t trials_left_out = 0;
  std::vector<ParameterImportance> parameters;  // in the space's order
  std::vector<PairImportance> pairs;            // strongest first
  std::vector<GroupImportance> groups;          // in depth order
  std::vector<SubsetImportance> subsets;        // as asked for
  Interval unexplained;
  // Intervals are made of these equally likely main shares, by parameter, if
  // any.
  std::vector<std::vector<double>> main_draws;
  // For the first one, two and three by rank: the numbers of one or two trials,
  // or of all that repeat one point, without which another would be among them.
  // Empty: there are none, or it is not known.
  std::vector<std::vector<std::int64_t>> lead_rests_on;
  // "layer.1 decides whether a run survives: …", or "" (measure/survival.h).
  std::string survival;
  // Trials that could not be trained count where it is true.
  bool diverged_inform = false;
  // Parts are "main effects", "interactions", "gaussian process", "forest" with
  // their shares of the variance predicted of unseen trials, if any is.
  std::vector<std::pair<std::string, double>> carried_by;
  // Below about 0.3, on trials not seen, it says little; NaN without
  // predictions.
  double out_of_bag_r2 = 0.0;
  double noise_variance = 0.0;  // at repeated points; NaN: none
  // Noise takes this part of the trials' variance, outside of shares; NaN where
  // unknown.
  double noise_share = 0.0;
  std::vector<ReportWarning> warnings;
};

struct PlainShares {
  std::vector<double> shares;                   // by parameter
  std::vector<std::vector<double>> replicates;  // of the shares; or none
  std::vector<double> chance;                   // what each had by chance
};

// Says "a", "a and b", "a, b and c". REQUIRES: there is a word.
std::string JoinInWords(std::vector<std::string> words);

// Says "trial 7" or "trials 7, 9 and 19".
std::string NameTrials(const std::vector<std::int64_t>& trials);

// Makes ranks, intervals and unexplained; totals and directions are NaN.
Report MakePlainReport(const PlainShares& shares);

// Divides by the sum, unless that is 0.
std::vector<double> Normalized(std::vector<double> values);

// Warns with PARAMETER_LEFT_OUT; of none it says nothing.
std::vector<ReportWarning> WarnOfLeftOut(const std::vector<int>& partial);

// Warns with FEW_TRIALS, ADAPTIVE_SAMPLING, LEVEL_NEVER_TRIED where they apply.
std::vector<ReportWarning> FindWarnings(const Space& space,
                                        const Dataset& data);

// Warns with METRIC_OUT_OF_RANGE, and names the first trial outside.
std::optional<ReportWarning> FindOutOfRange(const Selection& selection);

// Warns with VALUES_OFF_SCALE, and names the first of each kind.
std::vector<ReportWarning> FindOffScaleWarnings(const Selection& selection);

// Warns with TRIALS_DIVERGED: how many, and whether they inform the report.
std::optional<ReportWarning> FindDiverged(const Selection& selection,
                                          bool informs);

// Warns with TEST_OBJECTIVE, in this sentence.
ReportWarning WarnOfTestObjective(std::string sentence);

// Warns with INTERVALS_LEFT_OUT: their trees take too long
// (evaluate_options.h).
ReportWarning WarnOfNoIntervals(std::size_t rows, std::size_t parameters);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_REPORT_H_
