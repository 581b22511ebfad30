// SPDX-License-Identifier: Apache-2.0
//
// File: step_rate.h
//
// How many steps a second a trainer has taken over the last minute, from what
// it reported: of thousands of reports a second one is kept. Trainers with
// steps that take longer are judged by their last two.
#ifndef FROSTLINE_WORKER_AGENT_STEP_RATE_H_
#define FROSTLINE_WORKER_AGENT_STEP_RATE_H_

#include <cstdint>
#include <deque>

#include "base/clock.h"

namespace frostline::agent {

class StepRate {
 public:
  void Note(std::int64_t step, SteadyTime now);
  // Answers 0 before a second of training, and less and less after a minute in
  // which no step came.
  double At(SteadyTime now) const;

 private:
  struct Noted {
    std::int64_t step = 0;
    SteadyTime time{};
  };

  std::deque<Noted> noted_;  // by time; but for the last, a second apart
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_STEP_RATE_H_
