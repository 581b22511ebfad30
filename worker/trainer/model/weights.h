// SPDX-License-Identifier: Apache-2.0
//
// File: weights.h
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_WEIGHTS_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_WEIGHTS_H_

#include <map>
#include <string>
#include <vector>

#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// A copy shares its tensor.
struct Weight {
  ParameterSpec spec;
  at::Tensor value;
};

struct Linear {
  at::Tensor weight = {};  // [outputs, inputs]
  at::Tensor bias = {};    // [outputs]
  // An adapter (lora.h) may be undefined.
  at::Tensor lora_a = {};  // [rank, inputs]
  at::Tensor lora_b = {};  // [outputs, rank]
  // What stands behind the map (bottleneck.h), all undefined without.
  at::Tensor down = {};       // [size, outputs]
  at::Tensor down_bias = {};  // [size]
  at::Tensor up = {};         // [outputs, size]
  at::Tensor up_bias = {};    // [outputs]
  // What autocast would make of weight and bias for each batch, where they are
  // kept (encoder.h).
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_WEIGHTS_H_
