// SPDX-License-Identifier: Apache-2.0
//
// File: contender.h
//
// What is compared: settings, each with a run for every seed it was tried with.
// Runs of one seed are a block: what the seed does to all alike is no
// difference between them.
#ifndef FROSTLINE_STATISTICS_PAIRED_CONTENDER_H_
#define FROSTLINE_STATISTICS_PAIRED_CONTENDER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "statistics/run_score.h"

namespace frostline::statistics {

struct Run {
  std::uint64_t seed = 0;
  double value = 0.0;  // of the metric; NaN: no result
  // Null where its examples are not known, or their metric is not the value.
  std::shared_ptr<const RunScore> score;
};

struct Contender {
  std::string name;
  std::vector<Run> runs;
};

// Its runs with a result; of a repeated seed the last one.
using BySeed = std::map<std::uint64_t, const Run*>;
BySeed WithResult(const Contender& contender);

// The first's run and the second's of each seed that both have run with. Where
// each has one run, these, whatever their seeds.
std::vector<std::pair<const Run*, const Run*>> PairedRuns(
    const Contender& first, const Contender& second);

}  // namespace frostline::statistics

#endif  // FROSTLINE_STATISTICS_PAIRED_CONTENDER_H_
