// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/ladder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_format.h"

namespace frostline::sampler {

bool Ladder::HasReached(std::int64_t step, std::size_t rung) const {
  std::int64_t needed = rules_.min_resource;
  const auto times =
      static_cast<std::size_t>(rules_.early_stopping_rate) + rung;
  for (std::size_t i = 0; i < times; ++i) {
    // A rung that no number of steps can name is never reached.
    if (needed > std::numeric_limits<std::int64_t>::max() / rules_.reduction) {
      return false;
    }
    needed *= rules_.reduction;
  }
  return step >= needed;
}

PruneDecision Ladder::Enter(std::int64_t step, double loss, Climb& climb) {
  while (HasReached(step, climb.size())) {
    const std::size_t rung = climb.size();
    if (std::isnan(loss)) {
      return {true, absl::StrFormat("NaN at step %d, rung %d", step, rung)};
    }
    if (rung >= rungs_.size()) rungs_.resize(rung + 1);
    std::vector<double>& losses = rungs_[rung];
    losses.insert(std::upper_bound(losses.begin(), losses.end(), loss), loss);
    climb.push_back(loss);
    const auto count = static_cast<std::int64_t>(losses.size());
    if (count <= rules_.bootstrap_count) {
      return {true, absl::StrFormat("nobody goes on from rung %d before %d "
                                    "have come to it",
                                    rung, rules_.bootstrap_count + 1)};
    }
    const std::int64_t promoted =
        std::max<std::int64_t>(count / rules_.reduction, 1);
    if (loss > losses[static_cast<std::size_t>(promoted - 1)]) {
      return {true, absl::StrFormat("not among the best %d of %d at step %d, "
                                    "rung %d",
                                    promoted, count, step, rung)};
    }
  }
  return {};
}

void Ladder::Remove(Climb& climb) {
  for (std::size_t rung = 0; rung < climb.size(); ++rung) {
    std::vector<double>& losses = rungs_[rung];
    losses.erase(std::lower_bound(losses.begin(), losses.end(), climb[rung]));
  }
  climb.clear();
}

}  // namespace frostline::sampler
