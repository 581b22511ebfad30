// SPDX-License-Identifier: Apache-2.0
//
// File: dropout.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_H_

#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Zeroes each number of x with probability `share`, in [0, 1), to 2^-32, and
// scales the rest up; a share of 0 returns x itself. On a processor it takes 64
// bits from `chance` and one pass over memory, and the number of threads does
// not matter. Throws what LibTorch throws.
at::Tensor Dropout(const at::Tensor& x, double share, at::Generator* chance);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DROPOUT_H_
