// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/weights.h"

#include <cmath>

namespace frostline::trainer {
namespace {

constexpr double kNearIdentity = 0.01;  // as Houlsby et al. have it

}  // namespace

WeightsByName::WeightsByName(const std::vector<Weight>& weights) {
  for (const Weight& each : weights)
    values_.emplace(each.spec.name, each.value);
}

const at::Tensor& WeightsByName::Value(const std::string& name) const {
  return values_.at(name);
}

at::Tensor WeightsByName::OptionalValue(const std::string& name) const {
  return Has(name) ? Value(name) : at::Tensor();
}

Linear WeightsByName::LinearOf(const std::string& name) const {
  Linear linear = {Value(name + ".weight"), OptionalValue(name + ".bias")};
  if (Has(LoraANameOf(name))) {
    linear.lora_a = Value(LoraANameOf(name));
    linear.lora_b = Value(LoraBNameOf(name));
  }
  if (Has(DownNameOf(name) + ".weight")) {
    linear.down = Value(DownNameOf(name) + ".weight");
    linear.down_bias = Value(DownNameOf(name) + ".bias");
    linear.up = Value(UpNameOf(name) + ".weight");
    linear.up_bias = Value(UpNameOf(name) + ".bias");
  }
  return linear;
}

Norm WeightsByName::NormOf(const std::string& name) const {
  return {Value(name + ".weight"), OptionalValue(name + ".bias")};
}

std::vector<Weight> MoveTo(const std::vector<Weight>& weights,
                           at::Device device) {
  const at::NoGradGuard no_graph;
  std::vector<Weight> moved;
  for (const Weight& each : weights) {
    moved.push_back({each.spec, each.value.to(device)});
  }
  return moved;
}

at::Tensor DrawWeight(const ParameterSpec& spec, const ModelConfig& config,
                      at::Generator& chance) {
  const at::Tensor value = at::zeros(spec.shape, at::kFloat);
  if (spec.role == Role::kNorm && !spec.norm_bias) value.fill_(1.0);
  if (spec.role == Role::kWeight || spec.role == Role::kEmbedding) {
    value.normal_(0.0, config.initializer_range, chance);
  }
  if (spec.role == Role::kDown) value.normal_(0.0, kNearIdentity, chance);
  if (spec.role == Role::kLoraA) {
    const double most = 1.0 / std::sqrt(static_cast<double>(spec.shape[1]));
    value.uniform_(-most, most, chance);
  }
  return value;
}

}  // namespace frostline::trainer
