// SPDX-License-Identifier: Apache-2.0
//
// File: layers.h
//
// The small steps of an encoder, as in transformers. All but dropout are pure,
// and throw what LibTorch throws.
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

// The texts that a model reads at once. If pairs are read apart, the first B/2
// texts are the left ones and the others the right ones.
struct Batch {
  at::Tensor ids;     // [B, N] int64
  at::Tensor mask;    // [B, N] int64, 0 for padding, else 1
  at::Tensor types;   // [B, N] int64, or undefined: all 0
  at::Tensor labels;  // [B] or [B, N] int64 (-100: none), [B] float; [B/2]
  // What Prefix gave for these texts, [B, N, H], or [B, 1, H] after all layers
  // if the head reads no more. If it is undefined, Prefix runs. It may be bf16
  // until MoveTo has made it fp32.
  at::Tensor boundary;
  // [B] int64, the noise of each text, whose bits TextNoise gives. Only
  // training needs it.
  at::Tensor noise;
  at::Tensor lengths;    // [B] int64, tokens before padding; undefined: N
  std::size_t task = 0;  // which of the model's heads answers
};

// Returns the batch on the device, its boundary in fp32. Waits for nothing,
// because what goes to a GPU goes through pinned memory.
Batch MoveTo(const Batch& batch, at::Device device);

// Pads texts on the right to a multiple of `tokens`, unless that is longer than
// the model's longest text. Nobody sees the padding.
Batch PadTo(std::int64_t tokens, const Batch& batch, const ModelConfig& config);

// Refuses ids beyond the vocabulary, texts beyond the table of positions, and
// shapes that do not fit.
Expected<Done> CheckBatch(const Batch& batch, const ModelConfig& config,
                          const HeadSpec& head);

// How to run a pass through a model.
struct Pass {
  bool training = false;  // dropout on, by the batch's noise
  // These leading blocks run without a graph (FreezePlan).
  std::int64_t frozen_blocks = 0;
  // In these leading blocks dropout is off even in training.
  std::int64_t still_blocks = 0;
  // The top layer gives only its first token, [B, 1, H]. Of the others it needs
  // only keys and values.
  bool first_token = false;
};

// What is dropped of a text depends on its noise (noise.h) and the place in the
// model alone: not on padding, the texts beside it, the layers that train, or
// the number of threads.

// Drops numbers on devices and types without a loop of ours: SplitMix64
// (Steele, Lea and Flood, 2014) of a counter, as int64, by LibTorch's own
// operators. Its masks depend on the same things as those of Dropout, but
// differ from them.
//
// Keeps each number with probability `kept`. `shares` says that x is
// [B, A, M, N], of attention. Throws what LibTorch throws.
at::Tensor DropByOperators(const at::Tensor& x, double kept, const Batch& batch,
                           std::uint64_t place, bool shares);

// A place in a model that drops numbers. Each place has its own.
struct DropSite {
  std::int64_t layer = -1;  // -1 in embeddings and heads
  std::int64_t turn = 0;    // counts the drops of the layer
  bool shares = false;      // x is [B, A, M, N], of attention
};

// Zeroes each number of x with probability `share`, in [0, 1), exact to 2^-32,
// and scales the rest up. A share of 0 returns x itself. x belongs to the
// batch's texts: [B, H], [B, N, H], or shares of attention. On a CPU it takes
// one pass over memory, and zeroes padding. Throws what LibTorch throws, and
// also if the batch has no noise.
at::Tensor Dropout(const at::Tensor& x, double share, const Batch& batch,
                   const DropSite& site);

// How a device works best. Results differ only by rounding, so any device can
// be asked to work as another does (docs/reference/gpu.md).
struct Kernels {
  // Query, key and value come from one product. Starting a kernel costs a GPU
  // more than a larger product. A CPU gains nothing from it.
  bool one_product = false;
  // Texts are padded to a multiple of this many tokens.
  std::int64_t pad_to = 1;
  // The figures of a step are read after the next step was handed over.
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

// A linear map, with its adapters and kept copies.
struct Linear {
  at::Tensor weight = {};  // [outputs, inputs]
  at::Tensor bias = {};    // [outputs]
  // The low-rank adapter (model_config.h); undefined without one.
  at::Tensor lora_a = {};  // [rank, inputs]
  at::Tensor lora_b = {};  // [outputs, rank]
  // The bottleneck after the map (model_config.h); undefined without one.
  at::Tensor down = {};       // [size, outputs]
  at::Tensor down_bias = {};  // [size]
  at::Tensor up = {};         // [outputs, size]
  at::Tensor up_bias = {};    // [outputs]
  // Copies of weight and bias that autocast would otherwise make for each
  // batch; undefined unless kept (model.h).
  at::Tensor half_weight = {};
  at::Tensor half_bias = {};
};

// A LayerNorm; in a decoder an RMSNorm (Zhang and Sennrich, 2019).
struct Norm {
  at::Tensor weight;  // [H]
  at::Tensor bias;    // [H]
};

// Weights by name. It shares the tensors that it is made of. All functions but
// Has require the weights of that name. Biases may be missing, and are then
// undefined.
class WeightsByName {
 public:
  explicit WeightsByName(const std::vector<Weight>& weights);

  bool Has(const std::string& name) const { return values_.contains(name); }
  const at::Tensor& Value(const std::string& name) const;
  // Returns "….weight" and "….bias" with their adapters.
  Linear LinearOf(const std::string& name) const;
  Norm NormOf(const std::string& name) const;

 private:
  at::Tensor OptionalValue(const std::string& name) const;

  std::map<std::string, at::Tensor> values_;
};

// Returns the weights on the device. Shares those that are already there.
// Throws what LibTorch throws.
std::vector<Weight> MoveTo(const std::vector<Weight>& weights,
                           at::Device device);

// Draws a weight that no file has. As in transformers, weights are normal,
// biases 0, LayerNorms 1 and 0. As in peft, A is drawn as nn.Linear draws its
// weights, and B is 0. In a bottleneck, D is of N(0, 0.01), all else 0.
at::Tensor DrawWeight(const ParameterSpec& spec, const ModelConfig& config,
                      at::Generator& chance);

at::Tensor Apply(const Linear& linear, const at::Tensor& x);
// Returns whether the map has the weight that this thread would apply to x:
// fp32 or the half.
bool CanApply(const Linear& linear, const at::Tensor& x);
// Makes copies in `half`, bf16 or fp16, of the weight, and of the bias if that
// does not train. Drops other copies.
void KeepHalf(Linear& linear, std::optional<at::ScalarType> half);
// Returns one map with the outputs of `maps` one after the other, without their
// adapters.
Linear SideBySide(const std::vector<Linear>& maps);
// Returns the map that gives `count` of the outputs from `first` on. It shares
// the weights.
Linear Rows(const Linear& map, std::int64_t first, std::int64_t count);
// Normalizes over the last dimension.
at::Tensor Normalize(const at::Tensor& x, const Norm& norm,
                     const ModelConfig& config);
// Returns whether the map has a gradient to compute.
bool Trains(const Linear& linear);

// The angles by which each token's numbers are rotated in pairs, [N, D], or of
// one token of each text [B, 1, 1, D].
struct Rotation {
  at::Tensor cosine, sine;
};
// Returns the rotation of these tokens. `options` are those of floats on the
// device.
Rotation RotationOf(std::int64_t tokens, std::int64_t width, double theta,
                    const at::TensorOptions& options,
                    const RotaryScaling& scaling = {});
// Rotates [B, A, M, D], with M not above N.
at::Tensor Rotate(const at::Tensor& x, const Rotation& rotation);

at::Tensor Activate(const at::Tensor& x, Activation activation);

// Maps [B, N, H] to [B, A, N, D], and back.
at::Tensor SplitHeads(const at::Tensor& x, std::int64_t heads);
at::Tensor MergeHeads(const at::Tensor& x);

// Maps a mask of 1 and 0, [B, N] or [B, N, N], to numbers that are added to
// scores before the softmax, [B, 1, 1, N] or [B, 1, N, N]: 0, and half of the
// lowest bf16, or of the lowest fp16 if a GPU computes in that.
at::Tensor AdditiveMask(const at::Tensor& mask);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LAYERS_H_
