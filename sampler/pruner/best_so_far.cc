// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/best_so_far.h"

#include <cmath>

namespace frostline::sampler {

double BestLoss(const Objective& objective, const Observation& trial,
                std::size_t begin, std::size_t end, double best) {
  for (std::size_t i = begin; i < end; ++i) {
    best = std::fmin(best, AsLoss(objective, trial.intermediate[i].value));
  }
  return best;
}

void BestSoFar::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    trials_.clear();
  }
  for (; revision_ < history.revision(); ++revision_) {
    const std::uint32_t index =
        history.changes()[static_cast<std::size_t>(revision_)];
    const Observation& trial = history.trials()[index];
    const auto found = trials_.find(trial.number);
    if (found == trials_.end()) continue;
    const bool begun_again =
        found->second.curves_before != history.CurvesBefore(index);
    if (begun_again || IsTerminal(trial.state)) trials_.erase(found);
  }
}

double BestSoFar::Of(const History& history, const Observation& trial,
                     std::size_t count) {
  CatchUp(history);
  const auto index = static_cast<std::size_t>(&trial - history.trials().data());
  const auto [place, is_new] = trials_.try_emplace(trial.number);
  Best& best = place->second;
  if (is_new) best.curves_before = history.CurvesBefore(index);
  // Asked for fewer than before, it begins again.
  if (best.count > count) best = {.curves_before = best.curves_before};
  best.loss = BestLoss(objective_, trial, best.count, count, best.loss);
  best.count = count;
  return best.loss;
}

}  // namespace frostline::sampler
