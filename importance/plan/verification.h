// SPDX-License-Identifier: Apache-2.0
//
// File: verification.h
//
// A plan and its rivals that were run with the same seeds: what was seen, and
// whether their differences are larger than noise. Runs with one seed are a
// block: what a seed does to all of them alike is no noise between them.
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
  double value = 0.0;  // NaN: it ended without a result
  // What it came to on each row of the evaluation set, in one order; empty: it
  // has not said, or the value is not the mean of it.
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
  Interval difference;  // to the first, over the seeds that both have run with
  // What noise makes of two equal points, 19 times in 20.
  double seed_noise = 0.0;
  double row_noise = 0.0;
  bool exceeds_seeds = false;
  bool exceeds_rows = false;
};

struct Verification {
  std::vector<JudgedRival> rivals;
  double seed_deviation = 0.0;  // of one run, within a block
  std::int64_t rows = 0;        // 0: not known
};

// The first rival is the plan. Whatever cannot be said is NaN: ends of an
// interval with fewer than two runs, noise with fewer than two degrees of
// freedom.
Verification JudgeRuns(const std::vector<RivalRuns>& rivals);

// One sentence: whether the plan scored what was predicted, and whether a rival
// beats it by more than noise. `judged` is of these rivals.
std::string VerificationSentence(const Objective& objective,
                                 const std::vector<RivalRuns>& rivals,
                                 const Verification& judged);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_VERIFICATION_H_
