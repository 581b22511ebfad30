// SPDX-License-Identifier: Apache-2.0
//
// File: verification.h
//
// Compares a plan with its rivals, which ran with the same seeds, by the paired
// tests of statistics/compare.h.
#ifndef FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_
#define FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "importance/report.h"
#include "statistics/compare.h"
#include "study/objective.h"

namespace frostline::importance {

struct RivalRuns {
  Interval predicted;  // mean over seeds, before it ran
  Interval one_run;
  statistics::Contender seen;
};

struct JudgedRival {
  Interval seen;        // mean of its runs
  Interval difference;  // to the first, over seeds of both
  // So far do equal points lie apart, 19 times in 20.
  double seed_noise = 0.0;
  double row_noise = 0.0;
  bool exceeds_seeds = false;
  bool exceeds_rows = false;
  // The p-value of "there is no difference", over seeds and rows if both are
  // known; adjusted by Holm over the rivals.
  double p = 0.0;
  double adjusted_p = 0.0;
};

struct Verification {
  std::vector<JudgedRival> rivals;
  double seed_deviation = 0.0;  // of one run, within a block
  std::int64_t rows = 0;        // 0: unknown
};

// The first rival is the plan, or what was applied in its place. Intervals of
// fewer than two runs are NaN, and noise without a degree of freedom. `chance`
// is of the bootstrap, which metrics that are no means over rows take. After a
// stop it is of no use.
Verification JudgeRuns(const std::vector<RivalRuns>& rivals,
                       std::uint64_t chance, const std::stop_token& stop);

// Says whether the plan, or what stands in its place, scored as predicted, and
// whether a rival beats it by more than noise.
std::string VerificationSentence(const Objective& objective,
                                 const std::vector<RivalRuns>& rivals,
                                 const Verification& judged);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_
