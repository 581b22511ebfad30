// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "sampler/purpose.h"

namespace frostline::sampler {

bool IsResting(const std::vector<const LedgerTrial*>& trials) {
  double best = std::numeric_limits<double>::infinity();
  std::size_t valued = 0, since = 0;
  for (const LedgerTrial* trial : trials) {
    if (trial->part != TrialPart::kValued) continue;
    ++valued;
    ++since;
    // A loss of an early step is no better value.
    if (trial->pruned || !trial->feasible || trial->loss >= best) continue;
    best = trial->loss;
    since = 0;
  }
  return since >= kRestingTrials &&
         static_cast<double>(since) >=
             kRestingPart * static_cast<double>(valued);
}

bool IsDealt(std::int64_t number, double share, double start) {
  constexpr double kGolden = 0.6180339887498949;
  const double place = start + kGolden * static_cast<double>(number);
  return place - std::floor(place) < share;
}

}  // namespace frostline::sampler
