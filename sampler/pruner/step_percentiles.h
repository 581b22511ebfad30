// SPDX-License-Identifier: Apache-2.0
//
// File: step_percentiles.h
//
// One percentile of what succeeded trials reported, for each step. It reads the
// history's changes: each value is taken in once, when its trial succeeds.
#ifndef FROSTLINE_SAMPLER_PRUNER_STEP_PERCENTILES_H_
#define FROSTLINE_SAMPLER_PRUNER_STEP_PERCENTILES_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sampler/pruner/running_percentile.h"
#include "study/history.h"

namespace frostline::sampler {

class StepPercentiles {
 public:
  // Steps before `first_step` are left out.
  StepPercentiles(double percentile, std::int64_t first_step)
      : percentile_(percentile), first_step_(first_step) {}

  // Takes O(log trials) for each value that is new. All are read again only
  // when a trial that had succeeded becomes another one.
  void CatchUp(const History& history);

  std::int64_t succeeded() const { return succeeded_; }
  struct Step {
    std::int64_t reported = 0;  // trials, also those with NaN
    RunningPercentile values;
  };
  // Answers nullptr where no trial has reported.
  const Step* Find(std::int64_t step) const;
  // Counts the values that were ever looked at.
  std::int64_t values_read() const { return values_read_; }

 private:
  struct Taken {
    bool is_counted = false;
    std::uint32_t curves_before = 0;
    std::size_t values = 0;
  };
  // Answers false when what was taken of the trial is void.
  bool Take(const History& history, std::size_t index);
  void Forget();
  void ReadAll(const History& history);

  double percentile_;
  std::int64_t first_step_;
  std::int64_t revision_ = 0;
  std::int64_t succeeded_ = 0;
  std::int64_t values_read_ = 0;
  std::vector<Taken> taken_;  // as History::trials()
  std::unordered_map<std::int64_t, Step> steps_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_STEP_PERCENTILES_H_
