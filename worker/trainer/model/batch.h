// SPDX-License-Identifier: Apache-2.0
//
// File: batch.h
//
// A model reads B texts of N tokens with H hidden numbers each.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_BATCH_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// Read apart, the first B/2 texts are the left ones, the others the right.
struct Batch {
  at::Tensor ids;     // [B, N] int64
  at::Tensor mask;    // [B, N] int64, 0 for padding, else 1
  at::Tensor types;   // [B, N] int64, or undefined: all 0
  at::Tensor labels;  // [B] or [B, N] int64 (-100: none), [B] float; [B/2]
  // It is what Prefix gave for these texts, [B, N, H], or [B, 1, H] of all
  // layers where the head reads no more; undefined runs Prefix.
  at::Tensor boundary;
  // [B] int64: what each text draws, its bits as TextNoise gives them; only
  // training needs it.
  at::Tensor noise;
  at::Tensor lengths;    // [B] int64, tokens before padding; undefined: N
  std::size_t task = 0;  // which of the model's heads answers
};

// Waits for nothing: what goes to a GPU goes through pinned memory.
Batch MoveTo(const Batch& batch, at::Device device);

// Pads texts on the right to a multiple of `tokens`, with nothing for anyone to
// see, unless that is longer than the model's longest text.
Batch PadTo(std::int64_t tokens, const Batch& batch, const ModelConfig& config);

// Refuses ids beyond the vocabulary, texts beyond the table of positions, and
// shapes that do not fit.
Expected<Done> CheckBatch(const Batch& batch, const ModelConfig& config,
                          const HeadSpec& head);

struct Pass {
  bool training = false;  // dropout on, by the batch's noise
  // FreezePlan counts these leading blocks without a graph.
  std::int64_t frozen_blocks = 0;
  // In these, dropout is off even when training.
  std::int64_t still_blocks = 0;
  // The top layer gives its first token alone, [B, 1, H]: of the others it
  // needs keys and values, and no more.
  bool first_token = false;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BATCH_H_
