// SPDX-License-Identifier: Apache-2.0
//
// File: progress.h
//
// It goes into a checkpoint as notes and comes back bit for bit.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_PROGRESS_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_PROGRESS_H_

#include <cstdint>

#include "base/plain/result.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/early_stopping.h"
#include "worker/trainer/trial/scores.h"
#include "worker/trainer/trial/task_batches.h"

namespace frostline::trainer {

struct TrialProgress {
  MixPosition position;
  // These count since the last evaluation.
  double loss_sum = 0.0;
  std::int64_t loss_steps = 0;
  // Steps in which tasks' gradients pointed against each other.
  std::int64_t conflicts = 0;
  // And these since the last report of training.
  double step_loss_sum = 0.0;
  std::int64_t step_loss_steps = 0;
  EarlyStoppingState early_stopping;
  Metrics last;
  // Of the evaluation that is handed over, unless a better one comes; none
  // before the first.
  std::int64_t kept_step = 0;
  Metrics kept;
  // These count over all attempts that led here.
  double train_seconds = 0.0;
  double flops_spent = 0.0;
  double flops_skipped = 0.0;
  double flops_shared = 0.0;
};

Notes PrintProgress(const TrialProgress& progress);
// Returns kInconsistent when a note is missing or not what PrintProgress wrote.
Expected<TrialProgress> ParseProgress(const Notes& notes);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_PROGRESS_H_
