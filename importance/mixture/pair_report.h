// SPDX-License-Identifier: Apache-2.0
//
// File: pair_report.h
//
// Pairs and named sets of a mixture, as a report has them: with what those may
// have all the same that did not enter the level effects.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_PAIR_REPORT_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_PAIR_REPORT_H_

#include <vector>

#include "importance/mixture/drawn_shares.h"
#include "importance/mixture/mixture_shares.h"
#include "importance/mixture/surrogate_part.h"
#include "importance/report/report.h"

namespace frostline {

// MixtureModel::pairs(), strongest first.
std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const MixtureModel& mixture,
                                      const SurrogatePart& part,
                                      const DrawnShares& drawn);

// MixtureModel::subsets(), as asked for; `pairs` are those of RankPairs.
std::vector<SubsetImportance> DescribeSubsets(
    const LevelEffects& model, const MixtureModel& mixture,
    const DrawnShares& drawn, const std::vector<PairImportance>& pairs);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_PAIR_REPORT_H_
