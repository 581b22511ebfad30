// SPDX-License-Identifier: Apache-2.0
//
// File: wilcoxon.h
//
// Stops a trial that is worse than the best one over the same steps (folds,
// seeds or instances) by a one-sided signed-rank test of the paired
// differences, unless its mean is as good.
#ifndef FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_
#define FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sampler/pruner/pruner.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

// The signed-rank test (Wilcoxon, 1945) ranks differences by size, and sums the
// ranks of those above 0. By chance, each choice of signs is equally likely.
//
//   differences 1, 2, 3: sum 6, which 1 of 8 choices reaches: 0.125
//
// Returns the probability of a sum as high or higher by chance. Zeros count
// half to each side. It is exact for up to 50 differences, or 13 with ties or
// zeros; else it is the normal approximation, corrected for ties. REQUIRES:
// there are numbers, all finite.
double SignedRankProbability(const std::vector<double>& differences);

// The best trial that succeeded within its constraints, of equal ones the
// first in History::trials(), kept up by the history's changes.
class BestSucceeded {
 public:
  explicit BestSucceeded(Objective objective)
      : objective_(std::move(objective)) {}

  // Returns nullptr when none has succeeded. It costs O(changes since the last
  // call); all trials are read only when the best one has become worse.
  const Observation* In(const History& history);
  // Counts the trials that were ever looked at.
  std::int64_t trials_read() const { return trials_read_; }

 private:
  // Returns false when the best one is the best no longer.
  bool Offer(const History& history, std::size_t index);

  Objective objective_;
  std::int64_t revision_ = 0;
  std::int64_t trials_read_ = 0;
  struct Best {
    std::size_t index = 0;
    double loss = 0.0;
  };
  std::optional<Best> best_;
};

absl::StatusOr<std::unique_ptr<Pruner>> MakeWilcoxonPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_WILCOXON_H_
