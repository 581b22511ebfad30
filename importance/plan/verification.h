// SPDX-License-Identifier: Apache-2.0
//
// File: verification.h
//
// A plan and its rivals run with the same seeds. Runs of one seed are a block:
// what it does to all alike is no noise.
#ifndef FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_
#define FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "importance/report/report.h"
#include "study/objective.h"

namespace frostline::importance {

struct RivalRun {
  std::uint64_t seed = 0;
  double value = 0.0;  // NaN: no result
  // It goes by row of the evaluation set; empty means unknown, or the value is
  // not their mean.
  std::vector<float> rows;
};

struct RivalRuns {
  std::string name;
  Interval predicted;  // mean over seeds, before it ran
  Interval one_run;
  std::vector<RivalRun> runs;
};

struct JudgedRival {
  Interval seen;        // mean of its runs
  Interval difference;  // to the first, over seeds of both
  // So far do equal points lie apart, 19 times in 20.
  double seed_noise = 0.0;
  double row_noise = 0.0;
  bool exceeds_seeds = false;
  bool exceeds_rows = false;
};

struct Verification {
  std::vector<JudgedRival> rivals;
  double seed_deviation = 0.0;  // of one run, within a block
  std::int64_t rows = 0;        // 0: unknown
};

// The first rival is the plan. Intervals of fewer than two runs are NaN, and
// noise of fewer than two degrees of freedom.
Verification JudgeRuns(const std::vector<RivalRuns>& rivals);

// Says whether the plan scored as predicted, and whether a rival beats it by
// more than noise.
std::string VerificationSentence(const Objective& objective,
                                 const std::vector<RivalRuns>& rivals,
                                 const Verification& judged);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_
