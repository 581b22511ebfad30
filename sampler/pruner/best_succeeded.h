// SPDX-License-Identifier: Apache-2.0
//
// File: best_succeeded.h
//
// The best trial that succeeded within its constraints, of equal ones the
// first in History::trials(), kept up by the history's changes.
#ifndef FROSTLINE_SAMPLER_PRUNER_BEST_SUCCEEDED_H_
#define FROSTLINE_SAMPLER_PRUNER_BEST_SUCCEEDED_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

class BestSucceeded {
 public:
  explicit BestSucceeded(Objective objective)
      : objective_(std::move(objective)) {}

  // Answers nullptr when none has succeeded. It costs O(changes since the last
  // call); all trials are read only when the best one has become worse.
  const Observation* In(const History& history);
  // Counts the trials that were ever looked at.
  std::int64_t trials_read() const { return trials_read_; }

 private:
  // Answers false when the best one is the best no longer.
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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_BEST_SUCCEEDED_H_
