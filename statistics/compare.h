// SPDX-License-Identifier: Apache-2.0
//
// File: compare.h
//
// Which of some settings are better, and what cannot be told from noise.
//
// Two things may make a difference that is none: which examples the set
// happens to have, and which seeds the runs happened to get. With one run each
// the seeds' part is not known, and what is judged is these runs (example_
// evidence.h). With two seeds in common or more both variances are added (Owen,
// 2007), with the degrees of freedom of Welch and Satterthwaite:
//
//   V = 2 s^2 / seeds + v(examples)      t = difference / sqrt(V)
//
// All tests of one call are a family: their p-values are Holm's. The seed of
// chance comes in by the door, so the same question has the same answer.
#ifndef FROSTLINE_STATISTICS_COMPARE_H_
#define FROSTLINE_STATISTICS_COMPARE_H_

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "statistics/paired/block_noise.h"
#include "statistics/paired/contender.h"
#include "statistics/paired/example_evidence.h"
#include "statistics/paired/resampling.h"

namespace frostline::statistics {

inline constexpr double kLevel = 0.05;  // of a false finding in the family
inline constexpr double kPower = 0.8;

struct Question {
  bool more_is_better = true;
  double margin = 0.0;     // 0: nobody asks whether they are equivalent
  bool all_pairs = false;  // else each with the first
  std::uint64_t chance = 0;
  std::size_t most_draws = kMostDraws;
  std::stop_token stop = {};
};

struct PairJudged {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t pairs = 0;  // of runs
  Method method = Method::kNone;
  // Second less first; all of these are NaN where they are not known.
  double difference = 0.0;
  Range interval;              // 95 %
  double example_noise = 0.0;  // 95 % of what equal runs differ by
  double seed_noise = 0.0;     // the same of equal settings
  double example_p = 0.0;
  double seed_p = 0.0;
  double p = 0.0;  // of both where both are known
  double adjusted_p = 0.0;
  bool differs = false;
  double smallest = 0.0;  // difference that could have been seen
  // That the second is worse by the margin or more, and that it differs by as
  // much either way; Holm's, of families of their own.
  double worse_p = 0.0;
  double apart_p = 0.0;
  bool not_worse = false;
  bool equivalent = false;
};

struct Judged {
  std::vector<PairJudged> pairs;
  Noise within;           // of one run, within blocks
  std::size_t draws = 0;  // of the bootstrap; 0: none was needed
};

// After a stop the answer is of no use.
Judged Compare(const std::vector<Contender>& contenders,
               const Question& question);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_COMPARE_H_
