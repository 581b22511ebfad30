// SPDX-License-Identifier: Apache-2.0
//
// File: choice_axis.h
//
// Kernels over unordered choices: an observed choice has weight 1 above a
// floor of 1/K that all of them share, K being the number of kernels (Bergstra
// et al., 2011, §4, with Optuna's smoothing); the prior is uniform.
#ifndef FROSTLINE_SAMPLER_TPE_CHOICE_AXIS_H_
#define FROSTLINE_SAMPLER_TPE_CHOICE_AXIS_H_

#include <vector>

#include "sampler/tpe/kernel_axis.h"

namespace frostline {

class ChoiceAxis final : public KernelAxis {
 public:
  // `observed` are indices below `choices`.
  ChoiceAxis(std::size_t choices, const std::vector<double>& observed);

  double Draw(std::size_t kernel, Rng& rng) const override;
  void AddLogDensity(double value, std::span<double> sums) override;

 private:
  std::size_t choices_;
  std::vector<double> observed_;
  double seen_ = 0.0;   // probability of a kernel's own choice
  double other_ = 0.0;  // of each other choice
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_CHOICE_AXIS_H_
