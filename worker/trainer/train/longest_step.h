// SPDX-License-Identifier: Apache-2.0
//
// File: longest_step.h
//
// Says how far one step of an optimizer can move a weight, whatever its
// gradients are. The proofs are in docs/explanation/freezing.md.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_LONGEST_STEP_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_LONGEST_STEP_H_

#include "base/plain/result.h"
#include "worker/trainer/freeze/virtual_freeze.h"
#include "worker/trainer/train/optimizer.h"

namespace frostline::trainer {

// `clip_norm` is that of all gradients together, 0 without clipping. Returns
// kMisuse where there is no bound: SGD without clipping, and Adam whose beta1
// squared is not below beta2.
Expected<StepBound> LongestStep(const OptimizerOptions& options,
                                double clip_norm);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_LONGEST_STEP_H_
