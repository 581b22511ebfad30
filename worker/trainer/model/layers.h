// SPDX-License-Identifier: Apache-2.0
//
// File: layers.h
//
// Takes the small steps of an encoder as transformers does. All are pure, and
// throw what LibTorch throws; dropout.h is not.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// How a device likes its work. Results are the same but for rounding, so that
// any device can be asked to work as another does (docs/reference/gpu.md).

struct Kernels {
  // Query, key and value come from one product: starting a kernel costs a GPU
  // more than a larger one does. A processor gains nothing by it.
  bool one_product = false;
  // Texts are padded to a multiple of so many tokens.
  std::int64_t pad_to = 1;
  // The figures of a step are read when the next one has been handed over.
  bool late_figures = false;
};

inline Kernels KernelsFor(at::Device device) {
  if (device.is_cpu()) return {};
  return {.one_product = true, .pad_to = 8, .late_figures = true};
}

// A copy shares its tensor.
struct Weight {
  ParameterSpec spec;
  at::Tensor value;
};

struct Linear {
  at::Tensor weight = {};  // [outputs, inputs]
  at::Tensor bias = {};    // [outputs]
  // An adapter (model_config.h) may be undefined.
  at::Tensor lora_a = {};  // [rank, inputs]
  at::Tensor lora_b = {};  // [outputs, rank]
  // What stands behind the map (model_config.h), all undefined without.
  at::Tensor down = {};       // [size, outputs]
  at::Tensor down_bias = {};  // [size]
  at::Tensor up = {};         // [outputs, size]
  at::Tensor up_bias = {};    // [outputs]
  // What autocast would make of weight and bias for each batch, where they are
  // kept (model.h).
  at::Tensor half_weight = {};
  at::Tensor half_bias = {};
};

struct Norm {
  at::Tensor weight;  // [H]
  at::Tensor bias;    // [H]
};

// It shares the tensors it is made of. All but Has require the weights of that
// name; biases may be missing, and are undefined then.
class WeightsByName {
 public:
  explicit WeightsByName(const std::vector<Weight>& weights);

  bool Has(const std::string& name) const { return values_.contains(name); }
  const at::Tensor& Value(const std::string& name) const;
  // Takes "….weight" and "….bias", and what adapts them.
  Linear LinearOf(const std::string& name) const;
  Norm NormOf(const std::string& name) const;

 private:
  at::Tensor OptionalValue(const std::string& name) const;

  std::map<std::string, at::Tensor> values_;
};

// Shares what is there already. Throws what LibTorch throws.
std::vector<Weight> MoveTo(const std::vector<Weight>& weights,
                           at::Device device);

// Draws a weight that no file has as transformers does: normal weights, biases
// of 0, LayerNorms of 1 and 0; as peft: A as nn.Linear's weights, B of 0;
// of a bottleneck: D of N(0, 0.01), all else 0.
at::Tensor DrawWeight(const ParameterSpec& spec, const ModelConfig& config,
                      at::Generator& chance);

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
// Rotates [B, A, M, D], with M not above N.
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
