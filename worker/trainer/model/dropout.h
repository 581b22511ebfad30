// SPDX-License-Identifier: Apache-2.0
//
// File: dropout.h
//
// What is dropped of a text is a function of its noise (noise.h) and the place
// in the model: neither padding, nor the texts beside it, nor the layers that
// train, nor the number of threads change it.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_H_

#include <cstdint>

#include "worker/trainer/model/batch.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Dropout for devices and types without a loop of ours: SplitMix64 (Steele, Lea
// and Flood, 2014) of a counter, as int64, by LibTorch's own operators. Its
// masks are functions of the same things as those of dropout.h, and not the
// same.
//
// Keeps each number with probability `kept`. `shares` says that x is
// [B, A, M, N], of attention. Throws what LibTorch throws.
at::Tensor DropByOperators(const at::Tensor& x, double kept, const Batch& batch,
                           std::uint64_t place, bool shares);

// Each place of a model has one of its own.
struct DropSite {
  std::int64_t layer = -1;  // of embeddings and heads: none
  std::int64_t turn = 0;    // of those of the layer
  bool shares = false;      // x is [B, A, M, N], of attention
};

// Zeroes each number of x with probability `share`, in [0, 1), to 2^-32, and
// scales the rest up; a share of 0 returns x itself. x is of the batch's texts:
// [B, H], [B, N, H], or shares. On a processor it takes one
// pass over memory, and zeroes padding. Throws what LibTorch throws, and where
// the batch has no noise.
at::Tensor Dropout(const at::Tensor& x, double share, const Batch& batch,
                   const DropSite& site);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_H_
