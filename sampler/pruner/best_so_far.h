// SPDX-License-Identifier: Apache-2.0
//
// File: best_so_far.h
//
// The best of what each running trial has reported is carried on from report to
// report, so that a judgement does not read the whole curve again.
#ifndef FROSTLINE_SAMPLER_PRUNER_BEST_SO_FAR_H_
#define FROSTLINE_SAMPLER_PRUNER_BEST_SO_FAR_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

// Answers the lowest loss among `best` and the values from `begin` to `end`.
// NaN is passed over: it is the answer when there is nothing else.
double BestLoss(const Objective& objective, const Observation& trial,
                std::size_t begin, std::size_t end, double best);

class BestSoFar {
 public:
  explicit BestSoFar(Objective objective) : objective_(std::move(objective)) {}

  // Answers the best loss of the trial's first `count` values. It costs O(what
  // came since the last time). REQUIRES: the running trial is of `history` and
  // has `count` values.
  double Of(const History& history, const Observation& trial,
            std::size_t count);

 private:
  // What has ended, or begun again, is forgotten.
  void CatchUp(const History& history);

  struct Best {
    std::uint32_t curves_before = 0;
    std::size_t count = 0;
    double loss = std::numeric_limits<double>::quiet_NaN();
  };
  Objective objective_;
  std::int64_t revision_ = 0;
  std::unordered_map<std::int64_t, Best> trials_;  // by number
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_BEST_SO_FAR_H_
