// SPDX-License-Identifier: Apache-2.0
//
// File: flops_counter.h
//
// Counts the FLOPs that steps cost, and those that they were spared.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_FLOPS_COUNTER_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_FLOPS_COUNTER_H_

#include <array>
#include <cstdint>
#include <map>

#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// A count of the FLOPs of a trial, added to its progress. One thread uses it.
class FlopsCounter {
 public:
  // All outlive it.
  FlopsCounter(const TrialSetup& setup, const SmartOptions& smart,
               const TrainedModel& trained, TrialProgress& progress)
      : setup_(setup), smart_(smart), trained_(trained), progress_(progress) {}

  // Counts a batch that a step takes.
  void AddStep(const Batch& batch);
  // Counts the texts whose boundary was computed since the last call: what that
  // cost, and what a lower boundary saved.
  void AddFill(Boundaries& boundaries);

 private:
  struct Flops {
    double spent = 0.0;
    double skipped = 0.0;
    double prefix = 0.0;  // part of `spent`: forward through frozen layers
  };

  Flops FlopsOf(std::int64_t texts, std::int64_t tokens, std::size_t task,
                std::int64_t answered);
  // Returns the FLOPs of these texts through the leading `blocks`.
  double ForwardOf(const ComputedTexts& texts, std::int64_t blocks) const;

  const TrialSetup& setup_;
  const SmartOptions& smart_;
  const TrainedModel& trained_;
  TrialProgress& progress_;
  // What was counted already under the present plan, by texts, tokens, task and
  // tokens of answers.
  std::map<std::array<std::int64_t, 4>, Flops> known_;
  std::int64_t plan_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FLOPS_COUNTER_H_
