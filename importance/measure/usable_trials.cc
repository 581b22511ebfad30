// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/usable_trials.h"

#include <algorithm>
#include <cmath>

#include "importance/measure/parallel.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kBlock = 512;  // trials that one thread takes at a time

}  // namespace

std::vector<const Observation*> EndedTrials(const History& history) {
  std::vector<const Observation*> trials;
  trials.reserve(history.trials().size());
  for (const Observation& trial : history.trials()) {
    if (IsTerminal(trial.state)) trials.push_back(&trial);
  }
  const auto is_before = [](const Observation* a, const Observation* b) {
    return a->number < b->number;
  };
  // Most histories are in order as they are.
  if (!std::is_sorted(trials.begin(), trials.end(), is_before)) {
    std::sort(trials.begin(), trials.end(), is_before);
  }
  return trials;
}

std::vector<std::uint8_t> AreUsable(
    const Space& space, const std::vector<Objective>& objectives,
    const std::vector<const Observation*>& trials,
    const EvaluateOptions& options, const MetricColumns& columns) {
  std::vector<std::uint8_t> usable(trials.size(), 0);
  const std::size_t blocks = (trials.size() + kBlock - 1) / kBlock;
  ParallelFor(options.threads, blocks, [&](std::size_t block) {
    const std::size_t end = std::min(trials.size(), (block + 1) * kBlock);
    for (std::size_t i = block * kBlock; i < end; ++i) {
      const Observation& trial = *trials[i];
      const bool is_usable = trial.state == TrialState::kSucceeded &&
                             trial.values.size() == objectives.size() &&
                             std::isfinite(trial.values[columns.target]) &&
                             (options.top_quantile >= 1.0 ||
                              std::isfinite(trial.values[columns.best_by])) &&
                             space.Check(trial.point).ok();
      usable[i] = is_usable ? 1 : 0;
    }
  });
  return usable;
}

}  // namespace frostline::importance
