// SPDX-License-Identifier: Apache-2.0
//
// File: cost_model.h
//
// A step of training goes forward through every module, backward through those
// above the lowest one that trains, and makes weight gradients where one
// trains, at about one unit each; of 3M units for M modules a point takes
//
//   sum over modules 1 + [one below trains] + [it trains itself]
//
// Seconds are a + b times that share, both at least 0, by least squares over
// trials that succeeded; before three of them differ, they are the share
// itself.
#ifndef FROSTLINE_SAMPLER_TPE_COST_MODEL_H_
#define FROSTLINE_SAMPLER_TPE_COST_MODEL_H_

#include <cstdint>
#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::sampler {

// Returns a share of full training, 1/3 … 1. Modules are those of the space or,
// where it names none, its learning rates in order.
double RelativeCost(const Space& space, const Point& point);

class CostModel {
 public:
  // Learns from the trials with these indices. It keeps the space by reference.
  CostModel(const Space& space, const History& history,
            const std::vector<std::uint32_t>& trials);

  // Is right up to a constant.
  double LogCost(const Point& point) const;

 private:
  const Space& space_;
  double fixed_ = 0.0;
  double slope_ = 1.0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_COST_MODEL_H_
