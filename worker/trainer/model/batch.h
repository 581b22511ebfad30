// SPDX-License-Identifier: Apache-2.0
//
// File: batch.h
//
// What a model reads, and how it is to compute. B texts, N tokens, H hidden.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_BATCH_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_BATCH_H_

#include <cstdint>

#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Of kPairCosine the first B/2 texts are the left ones, the others the right.
struct Batch {
  at::Tensor ids;     // [B, N] int64
  at::Tensor mask;    // [B, N] int64, 1 for a token and 0 for padding
  at::Tensor types;   // [B, N] int64, or undefined: all 0
  at::Tensor labels;  // [B] or [B, N] int64 (-100: none), [B] float; [B/2]
  // [B, N, H]: what Prefix gave for these texts, or undefined: it is run.
  at::Tensor boundary;
};

Batch MoveTo(const Batch& batch, at::Device device);

// Ids beyond the vocabulary, texts beyond the table of positions, shapes that
// do not fit.
Expected<Done> CheckBatch(const Batch& batch, const ModelConfig& config,
                          const HeadSpec& head);

struct Pass {
  bool training = false;  // dropout on
  // Leading blocks without a graph: 0 none, 1 the embeddings, 1 + k also k
  // layers.
  std::int64_t frozen_blocks = 0;
  // Leading blocks in which dropout is off even when training.
  std::int64_t still_blocks = 0;
  // Of dropout; must be set when `training`.
  at::Generator* chance = nullptr;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BATCH_H_
