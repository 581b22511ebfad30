// SPDX-License-Identifier: Apache-2.0
//
// File: split.h
//
// Trials fill the side "below" in this order until it is full; the rest, and
// all that still run, are "above":
//
//   1. finished and feasible, best first; with several objectives by rank of
//      non-domination, the last rank by hypervolume (pareto.h)
//   2. pruned: the further they came the better, then by their last value
//   3. infeasible, by how far they break the constraints; points that could
//      not be trained come last
//
// Running ones count as bad to keep parallel proposals apart (the constant liar
// of Ginsbourger et al., 2010).
//
//   of 20 finished trials the best 2 are below (CountBelow), 18 above
#ifndef FROSTLINE_SAMPLER_SPLIT_H_
#define FROSTLINE_SAMPLER_SPLIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

enum class SplitGroup { kFinished, kPruned, kInfeasible, kRunning };

// Lower keys are better.
struct SplitKey {
  SplitGroup group = SplitGroup::kRunning;
  double first = 0.0;          // loss, minus the last step, or violation
  double second = 0.0;         // pruned: the last value as a loss
  std::vector<double> losses;  // finished, with several objectives
};

// Answers nothing for trials that are failed, cancelled or queued.
std::optional<SplitKey> SplitKeyOf(const Observation& trial,
                                   const std::vector<Objective>& objectives);

struct KeyedTrial {
  std::int64_t number = 0;
  std::uint32_t index = 0;  // in History::trials()
  const SplitKey* key = nullptr;
};

// Holds indices in History::trials(), by rising trial number.
struct Split {
  std::vector<std::uint32_t> below;
  std::vector<std::uint32_t> above;
};

// Counts the good of n trials: a tenth, with one objective at most 25.
std::size_t CountBelow(std::size_t n, std::size_t objectives);

Split SplitTrials(std::vector<KeyedTrial> trials, std::size_t below);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_H_
