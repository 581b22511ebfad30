// SPDX-License-Identifier: Apache-2.0
//
// File: learnt_model.h
//
// A Gaussian process whose kernel is learnt now and then. When, and from which
// trials, is a matter of how many there are, never of what was asked before: a
// sampler that has just been made learns the same kernel as one that has
// followed the study from its start.
#ifndef FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_
#define FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_

#include <cstddef>
#include <vector>

#include "sampler/gp/kernel_fit.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/posterior.h"

namespace frostline {

struct TargetedRows {
  KernelRows rows;
  std::vector<double> targets;  // of the first rows; the others have none
};

// The number of trials after which the kernel in use for `trials` was learnt:
// every second one at first, later whenever there is an eighth more.
std::size_t LastRefresh(std::size_t trials);

// Indices 0 … trials-1, thinned evenly where a fit would take too long.
std::vector<std::size_t> LearningSample(std::size_t trials);

// Keeps a reference to the axes.
class LearntModel {
 public:
  explicit LearntModel(const std::vector<LevelAxis>& axes)
      : axes_(axes), posterior_(axes) {}

  // The kernel learnt from `sample`, the posterior that of `all`.
  void Update(TargetedRows sample, const KernelPrior& prior, TargetedRows all);

  const LevelPosterior& posterior() const { return posterior_; }

 private:
  const std::vector<LevelAxis>& axes_;
  TargetedRows learnt_from_;
  KernelParameters parameters_;
  LevelPosterior posterior_;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_
