// SPDX-License-Identifier: Apache-2.0
//
// File: recompute.h
//
// Gradient checkpointing (Chen et al., 2016): a step keeps of a layer what the
// layer was given, and runs it once more on the way back. The numbers are the
// same to the bit: what dropout takes depends on text and place alone.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_RECOMPUTE_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_RECOMPUTE_H_

#include <functional>

#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Returns `run(x)`, whose graph is made only on the way back. `run` must give
// the same then; it keeps alive what it reads, and reads nothing but x and
// weights that has a gradient. Throws what LibTorch and `run` throw.
at::Tensor Recomputed(const at::Tensor& x,
                      std::function<at::Tensor(const at::Tensor&)> run);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_RECOMPUTE_H_
