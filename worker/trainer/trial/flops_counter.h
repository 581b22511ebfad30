// SPDX-License-Identifier: Apache-2.0
//
// File: flops_counter.h
//
// What steps cost by count, and what they were spared.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_FLOPS_COUNTER_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_FLOPS_COUNTER_H_

#include <array>
#include <cstdint>
#include <map>

#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// Counts into a trial's progress. One thread uses it.
class FlopsCounter {
 public:
  // All outlive it.
  FlopsCounter(const TrialSetup& setup, const SmartOptions& smart,
               const TrainedModel& trained, TrialProgress& progress)
      : setup_(setup), smart_(smart), trained_(trained), progress_(progress) {}

  // Of a batch that a step takes.
  void AddStep(const Batch& batch);
  // Texts whose boundary was computed on the way to a step: what they took, and
  // what they did not, as a lower one was there.
  void AddFill(Boundaries& boundaries);

 private:
  struct Flops {
    double spent = 0.0;
    double skipped = 0.0;
    double prefix = 0.0;  // of it forward through frozen layers
  };

  Flops FlopsOf(std::int64_t texts, std::int64_t tokens, std::size_t task);
  // Through the leading blocks.
  double ForwardOf(const ComputedTexts& texts, std::int64_t blocks) const;

  const TrialSetup& setup_;
  const SmartOptions& smart_;
  const TrainedModel& trained_;
  TrialProgress& progress_;
  // Texts of a batch cost the same: by thawed blocks, texts, tokens and task.
  std::map<std::array<std::int64_t, 4>, Flops> known_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FLOPS_COUNTER_H_
