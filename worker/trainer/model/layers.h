// SPDX-License-Identifier: Apache-2.0
//
// File: layers.h
//
// Takes the small steps of an encoder as transformers does. All are pure, and
// throw what LibTorch throws; dropout.h is not.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/torch.h"
#include "worker/trainer/model/weights.h"

namespace frostline::trainer {

at::Tensor Apply(const Linear& linear, const at::Tensor& x);
// A map may lack what this thread would apply to x: fp32 or a half of it.
bool CanApply(const Linear& linear, const at::Tensor& x);
// Makes copies in `half`, bf16 or fp16, of the weight and of a bias that does
// not train; drops others.
void KeepHalf(Linear& linear, std::optional<at::ScalarType> half);
// Maps as one, whose outputs are those of `maps` one behind the other; without
// their adapters.
Linear SideBySide(const std::vector<Linear>& maps);
// The map that gives `count` of the outputs from `first` on; shares its
// weights.
Linear Rows(const Linear& map, std::int64_t first, std::int64_t count);
// Works over the last dimension.
at::Tensor Normalize(const at::Tensor& x, const Norm& norm,
                     const ModelConfig& config);
// Has a gradient to be computed.
bool Trains(const Linear& linear);

// Turns of [N, D], by which each token's numbers are rotated in pairs.
struct Rotation {
  at::Tensor cosine, sine;
};
// `options` are those of floats on the device.
Rotation RotationOf(std::int64_t tokens, std::int64_t width, double theta,
                    const at::TensorOptions& options);
// Of [B, A, M, D], M not above N.
at::Tensor Rotate(const at::Tensor& x, const Rotation& rotation);

at::Tensor Activate(const at::Tensor& x, Activation activation);

// Maps [B, N, H] to [B, A, N, D], and back.
at::Tensor SplitHeads(const at::Tensor& x, std::int64_t heads);
at::Tensor MergeHeads(const at::Tensor& x);

// Maps [B, N] of 1 and 0 to [B, 1, 1, N], or [B, N, N] to [B, 1, N, N], of 0
// and the lowest bf16, or fp16 where a GPU computes in that, to be added to
// scores before the softmax.
at::Tensor AdditiveMask(const at::Tensor& mask);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_
