// SPDX-License-Identifier: Apache-2.0
//
// File: layers.h
//
// Takes the small steps of an encoder as transformers does. All but
// dropout are pure, and throw what LibTorch throws.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// A model reads B texts of N tokens with H hidden numbers each.

// The texts that a model reads at once. Where pairs are read apart, the first
// B/2 texts are the left ones, the others the right ones.
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

// What is dropped of a text is a function of its noise (noise.h) and the place
// in the model: neither padding, nor the texts beside it, nor the layers that
// train, nor the number of threads change it.

// Dropout for devices and types without a loop of ours: SplitMix64 (Steele, Lea
// and Flood, 2014) of a counter, as int64, by LibTorch's own operators. Its
// masks are functions of the same things as those of Dropout, and not the
// same.
//
// Keeps each number with probability `kept`. `shares` says that x is
// [B, A, M, N], of attention. Throws what LibTorch throws.
at::Tensor DropByOperators(const at::Tensor& x, double kept, const Batch& batch,
                           std::uint64_t place, bool shares);

// A place in a model that drops numbers. Each place has its own.
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

// A weight of a model, with its name and shape. A copy shares its tensor.
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

// Finds weights by name. It shares the tensors it is made of. All functions but
// Has require the weights of that name; biases may be missing, and are
// undefined then.
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
