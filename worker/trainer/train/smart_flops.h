// SPDX-License-Identifier: Apache-2.0
//
// File: smart_flops.h
//
// Counts what SMART's passes (smart.h) cost beside the step's own, which is the
// clean pass. Of each text that is moved, all at once or of a pair that is read
// apart one and then the other:
//
//   `steps` times  forward from what is moved, and back to it: gradients of
//                  inputs, of no weight
//   once           forward from there, and backward as the step's own
//
// and with `bregman` once forward. What is moved is what the embeddings give,
// so that all layers are gone through, or at the boundary what the frozen
// prefix gives.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_SMART_FLOPS_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_SMART_FLOPS_H_

#include <cstddef>
#include <cstdint>

#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

struct SmartFlops {
  double spent = 0.0;
  // Backward of what is frozen, in the layers that are gone through.
  double skipped = 0.0;
  // Of `spent`, what a batch that brings its boundary does without.
  double prefix = 0.0;
};

// `step` is CountFlops of the same batch: `texts` of `tokens`, of the task with
// this number. Without SMART nothing is added.
SmartFlops CountSmart(const SmartOptions& smart, const ModelConfig& config,
                      const Heads& heads, std::int64_t frozen_blocks,
                      const StepFlops& step, std::int64_t texts,
                      std::int64_t tokens, std::size_t task = 0);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_SMART_FLOPS_H_
