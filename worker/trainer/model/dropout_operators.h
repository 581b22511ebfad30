// SPDX-License-Identifier: Apache-2.0
//
// File: dropout_operators.h
//
// Dropout for devices and types without a loop of ours: SplitMix64 (Steele, Lea
// and Flood, 2014) of a counter, as int64, by LibTorch's own operators. Its
// masks are functions of the same things as those of dropout.h, and not the
// same.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_OPERATORS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_OPERATORS_H_

#include <cstdint>

#include "worker/trainer/model/batch.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Keeps each number with probability `kept`. `shares` says that x is
// [B, A, M, N], of attention. Throws what LibTorch throws.
at::Tensor DropByOperators(const at::Tensor& x, double kept, const Batch& batch,
                           std::uint64_t place, bool shares);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_OPERATORS_H_
