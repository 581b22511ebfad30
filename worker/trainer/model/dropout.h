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
