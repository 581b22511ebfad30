// SPDX-License-Identifier: Apache-2.0
//
// File: row_noise.h
//
// Which noise the rows of a token store have in an epoch. Each row's is its
// text's, so that trials of one seed see the same; a text that occurs twice has
// two.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_ROW_NOISE_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_ROW_NOISE_H_

#include <cstdint>
#include <span>

#include "worker/trainer/data/token_store.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

struct RowNoise {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

// What Batch::noise wants, [B]. Throws what LibTorch throws.
at::Tensor NoiseOfRows(const TokenStore& tokens,
                       std::span<const std::uint32_t> rows,
                       const RowNoise& noise);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_ROW_NOISE_H_
