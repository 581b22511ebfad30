// SPDX-License-Identifier: Apache-2.0
//
// File: stability_verdict.h
#ifndef FROSTLINE_IMPORTANCE_RANKING_STABILITY_VERDICT_H_
#define FROSTLINE_IMPORTANCE_RANKING_STABILITY_VERDICT_H_

#include <cstdint>
#include <vector>

#include "importance/ranking/stability.h"

namespace frostline::importance {

struct RankingEvidence {
  std::int64_t trials = 0;
  std::vector<double> values;                   // the ranked shares
  std::vector<std::vector<double>> draws;       // as likely as they; or none
  std::vector<std::vector<double>> half_draws;  // the same, from halves
  std::int64_t unchanged_since = 0;             // trials; 0: unknown
  // Main effects take so many free values out of every half: uncertainty falls
  // as with twice as many trials less.
  std::int64_t effects = 0;
  bool any_distinguishable = false;
};

// Judges by stability.h; half_tau stays 0.
StabilityVerdict JudgeRanking(const RankingEvidence& evidence);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_RANKING_STABILITY_VERDICT_H_
