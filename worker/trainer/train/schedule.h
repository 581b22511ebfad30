// SPDX-License-Identifier: Apache-2.0
//
// File: schedule.h
//
// A module trains at this share of its rate at each step, as in transformers:
// up from 0 while warming up (so the very first step has rate 0), then down or
// level.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_SCHEDULE_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_SCHEDULE_H_

#include <cstdint>

namespace frostline::trainer {

enum class ScheduleKind : std::uint8_t { kLinear, kConstant, kCosine };

struct Schedule {
  ScheduleKind kind = ScheduleKind::kLinear;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;

  // It is in [0, 1]; `step` counts the steps taken before this one.
  double FactorAt(std::int64_t step) const;
  double SumOfFactors() const;
};

// Rounds a share of all steps up.
std::int64_t WarmupSteps(double share, std::int64_t total_steps);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_SCHEDULE_H_
