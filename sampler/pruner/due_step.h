// SPDX-License-Identifier: Apache-2.0
//
// File: due_step.h
#ifndef FROSTLINE_SAMPLER_PRUNER_DUE_STEP_H_
#define FROSTLINE_SAMPLER_PRUNER_DUE_STEP_H_

#include <cstdint>
#include <vector>

#include "study/history.h"

namespace frostline::sampler {

// Holds for the first value at or after each multiple of `interval` steps,
// counted from `warmup_steps`. REQUIRES: there are values.
inline bool IsDue(const std::vector<IntermediateValue>& values,
                  std::int64_t warmup_steps, std::int64_t interval) {
  const std::int64_t step = values.back().step;
  if (step < warmup_steps) return false;
  const std::int64_t due = step - (step - warmup_steps) % interval;
  return values.size() < 2 || values[values.size() - 2].step < due;
}

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_DUE_STEP_H_
