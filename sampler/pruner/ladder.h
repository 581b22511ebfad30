// SPDX-License-Identifier: Apache-2.0
//
// File: ladder.h
//
// A ladder has the rungs of successive halving (Jamieson and Talwalkar, AISTATS
// 2016). With r_0 = min_resource, eta = reduction and s = early_stopping_rate,
//
//   rung k is at step r_0 eta^(s + k); the best 1 / eta of a rung go on
//
//   min_resource 1, reduction 4: rungs at steps 1, 4, 16, 64, …
#ifndef FROSTLINE_SAMPLER_PRUNER_LADDER_H_
#define FROSTLINE_SAMPLER_PRUNER_LADDER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sampler/pruner/pruner.h"

namespace frostline::sampler {

struct LadderRules {
  std::int64_t min_resource = 1;
  std::int64_t reduction = 4;
  std::int64_t early_stopping_rate = 0;
  std::int64_t bootstrap_count = 0;
};

// Holds a trial's losses at the rungs it has completed, lowest rung first.
using Climb = std::vector<double>;

class Ladder {
 public:
  explicit Ladder(const LadderRules& rules) : rules_(rules) {}

  // The trial completes every rung up to `step` from which it may go on; the
  // answer says why it may not go on from one. Each costs O(trials at a rung).
  PruneDecision Enter(std::int64_t step, double loss, Climb& climb);

  // Forgets that the trial was ever there.
  void Remove(Climb& climb);

 private:
  bool HasReached(std::int64_t step, std::size_t rung) const;

  LadderRules rules_;
  std::vector<std::vector<double>> rungs_;  // losses, the lowest first
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_LADDER_H_
