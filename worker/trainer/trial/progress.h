// SPDX-License-Identifier: Apache-2.0
//
// File: progress.h
//
// How far a trial is, besides its weights. A checkpoint keeps this as notes and
// gives it back bit for bit. Also how far a trial goes, and what is due on the
// way.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_PROGRESS_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_PROGRESS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/freeze/layer_rules.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/training_settings.h"

namespace frostline::trainer {

// What early stopping has seen so far.
struct EarlyStoppingState {
  std::optional<double> best;
  int worse = 0;  // evaluations since the best one
};

// A rule for when training ends early: after `patience` evaluations in a row
// that were not better than the best by more than `min_delta`.
class EarlyStopping {
 public:
  EarlyStopping(bool maximize, int patience, double min_delta)
      : maximize_(maximize), patience_(patience), min_delta_(min_delta) {}

  // Notes the value of an evaluation. Returns true when training should end. A
  // value that is not finite is worse than any finite one.
  bool Note(double value);

  bool maximizes() const { return maximize_; }
  bool ended() const { return state_.worse >= patience_; }
  const EarlyStoppingState& state() const { return state_; }
  void Restore(const EarlyStoppingState& state) { state_ = state; }

 private:
  bool maximize_;
  int patience_;
  double min_delta_;
  EarlyStoppingState state_;
};

// How far a trial is, besides its weights: counters, sums and evaluations.
struct TrialProgress {
  // Steps taken, as the stepper counts them: its part of a checkpoint has them.
  std::int64_t steps = 0;
  MixPosition position;
  // These two count since the last evaluation.
  double loss_sum = 0.0;
  std::int64_t loss_steps = 0;
  // Steps in which tasks' gradients pointed against each other.
  std::int64_t conflicts = 0;
  // These two count since the last report of training.
  double step_loss_sum = 0.0;
  std::int64_t step_loss_steps = 0;
  EarlyStoppingState early_stopping;
  Metrics last;
  // The evaluation that is handed over unless a better one comes. Empty before
  // the first one.
  std::int64_t kept_step = 0;
  Metrics kept;
  // These sum over all attempts that led here.
  double train_seconds = 0.0;
  double processor_seconds = 0.0;
  double flops_spent = 0.0;
  double flops_skipped = 0.0;
  double flops_shared = 0.0;
  AutoFreezeState auto_freeze;
};

Notes PrintProgress(const TrialProgress& progress);
// Returns kInconsistent when a note is missing or not what PrintProgress wrote.
Expected<TrialProgress> ParseProgress(const Notes& notes);

// Gradual unfreezing (Howard and Ruder, 2018, section 3.3) trains head and
// pooler from the first step, then thaws one more layer from the top each so
// many steps or epochs, the embeddings last. A frozen module never thaws.

// Counts blocks from the top that train after `done` steps or epochs: layers +
// 1 when all do, the embeddings too. `every` 0 thaws all from the beginning.
std::int64_t ThawedBlocks(std::int64_t done, std::int64_t every,
                          std::int64_t layers);

// Returns `rates` with 0 for what has not thawed; parts of a layer go with it.
ModuleRates ThawedRates(const ModuleRates& rates, std::int64_t thawed,
                        std::int64_t layers);

// The way of a trial from its first step to its last. One thread uses it.
class Course {
 public:
  // The model has `layers` layers. All outlive it; `batches` moves on, and
  // `progress` says how far the trial is.
  Course(const TrainingSettings& settings, const TaskBatches& batches,
         const TrialProgress& progress, std::int64_t layers);

  const TrialProgress& progress() const { return progress_; }
  std::int64_t total_steps() const { return total_steps_; }
  // Has a fraction if the study asks for steps.
  double total_epochs() const { return total_epochs_; }
  double epochs_done() const;
  // Returns how many epochs the trial begins.
  std::int64_t EpochsBegun() const;
  // Counts blocks from the top that train after so many steps.
  std::int64_t ThawedAfter(std::int64_t steps) const;

  bool ended_early() const;
  bool IsOver() const;
  bool EvaluationIsDue() const;
  std::int64_t EvaluationsLeft() const;
  // Returns whether training reports the step with this number.
  bool ReportsStep(std::int64_t step) const;

 private:
  std::int64_t StepsOf(std::uint64_t epoch) const;
  std::int64_t CountSteps() const;
  // Returns the steps at which epochs end, as far as gradual unfreezing needs
  // them.
  std::vector<std::int64_t> EpochEnds() const;

  const TrainingSettings& settings_;
  const TaskBatches& batches_;
  const TrialProgress& progress_;
  const std::int64_t layers_;
  const std::int64_t steps_of_first_;  // of the first epoch
  const std::int64_t total_steps_;
  const double total_epochs_;
  const std::vector<std::int64_t> epoch_ends_;  // in steps
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_PROGRESS_H_
