// SPDX-License-Identifier: Apache-2.0
//
// File: mixture_report.h
//
// Shares of a mixture and their draws, put into a report: intervals, ranks,
// directions.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_REPORT_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_REPORT_H_

#include <cstdint>
#include <vector>

#include "importance/mixture/drawn_shares.h"
#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/surrogate_part.h"
#include "importance/report/report.h"

namespace frostline::importance {

struct MixtureReportOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  bool pairs = true;
};

// Parameters, pairs, groups (without their names), unexplained and main_draws;
// the caller fills in the rest.
// `part` has a weight of 0 where there is none.
Report MakeMixtureReport(const LevelEffects& model, const MixtureModel& shares,
                         const SurrogatePart& part,
                         const MixtureReportOptions& options);

// Its parts in pair_report.cc: pairs and named sets, with what those may have
// all the same that did not enter the level effects.
// MixtureModel::pairs(), strongest first.
std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const MixtureModel& mixture,
                                      const SurrogatePart& part,
                                      const DrawnShares& drawn);

// MixtureModel::subsets(), as asked for; `pairs` are those of RankPairs.
std::vector<SubsetImportance> DescribeSubsets(
    const LevelEffects& model, const MixtureModel& mixture,
    const DrawnShares& drawn, const std::vector<PairImportance>& pairs);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_REPORT_H_
