// SPDX-License-Identifier: Apache-2.0
//
// File: learnt_model.h
//
// When the kernel is learnt, and from which trials, follows from their number,
// so a new sampler learns what an old one has.
#ifndef FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_
#define FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_

#include <cstddef>
#include <stop_token>
#include <utility>
#include <vector>

#include "surrogate/growing_surrogate.h"

namespace frostline::sampler {

struct TargetedRows {
  surrogate::RowColumns rows;
  std::vector<double> targets;  // of the first rows; the others have none
};

// The kernel was learnt after so many: every second trial at first, later
// whenever there is an eighth more.
std::size_t LastRefresh(std::size_t trials);

class LearntModel {
 public:
  explicit LearntModel(std::vector<surrogate::Axis> axes)
      : axes_(std::move(axes)) {}

  // Learns the kernel from `sample`, with which `all` begin. Answers false when
  // stopped; then only the next update's time is another.
  bool Update(TargetedRows sample, TargetedRows all,
              const std::stop_token& stop);

  const surrogate::GrowingSurrogate& posterior() const { return posterior_; }

 private:
  std::vector<surrogate::Axis> axes_;
  TargetedRows learnt_from_;
  surrogate::GrowingSurrogate posterior_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEARNT_MODEL_H_
