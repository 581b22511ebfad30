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
#include <utility>
#include <vector>

#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

struct TargetedRows {
  surrogate::RowColumns rows;
  std::vector<double> targets;  // of the first rows; the others have none
};

// The number of trials after which the kernel in use for `trials` was learnt:
// every second one at first, later whenever there is an eighth more.
std::size_t LastRefresh(std::size_t trials);

class LearntModel {
 public:
  explicit LearntModel(std::vector<surrogate::Axis> axes)
      : axes_(std::move(axes)) {}

  // The kernel learnt from `sample`, which `all` begin with; the posterior that
  // of `all`.
  void Update(TargetedRows sample, TargetedRows all);

  const surrogate::GrowingSurrogate& posterior() const { return posterior_; }

 private:
  std::vector<surrogate::Axis> axes_;
  TargetedRows learnt_from_;
  surrogate::GrowingSurrogate posterior_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_
