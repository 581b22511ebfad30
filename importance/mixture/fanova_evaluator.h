// SPDX-License-Identifier: Apache-2.0
//
// File: fanova_evaluator.h
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/selection.h"
#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/surrogate_part.h"
#include "importance/report.h"
#include "study/space.h"

namespace frostline::importance {

struct MixtureReportOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  bool pairs = true;
  std::stop_token stop = {};
};

// Fills in parameters, pairs, groups (without names), unexplained and
// main_draws. A `part` of weight 0 is none. CANCELLED after a stop.
absl::StatusOr<Report> MakeMixtureReport(const LevelEffects& model,
                                         const MixtureModel& shares,
                                         const SurrogatePart& part,
                                         const MixtureReportOptions& options);

// fanova_evaluator.cc ranks pairs, strongest first, and describes sets, with
// what terms that did not enter may have.
std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const MixtureModel& mixture,
                                      const SurrogatePart& part,
                                      const DrawnShares& drawn);

std::vector<SubsetImportance> DescribeSubsets(
    const LevelEffects& model, const MixtureModel& mixture,
    const DrawnShares& drawn,
    const std::vector<PairImportance>& pairs);  // RankPairs'

// Both read `seed`, `pairs`, `subsets`, and whether there are `bootstraps`, for
// intervals; fanova also `trees` and `threads`.
absl::StatusOr<Report> EvaluateFanova(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

absl::StatusOr<Report> EvaluateLevels(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_
