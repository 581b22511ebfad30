// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/layers.h"

#include <ATen/autocast_mode.h>

#include <cmath>
#include <limits>
#include <optional>

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

namespace {

bool AppliesHalf(const Linear& linear, const at::Tensor& x) {
  return linear.half_weight.defined() &&
         at::autocast::is_autocast_enabled(x.device().type());
}

std::optional<at::Tensor> Given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

}  // namespace

at::Tensor Apply(const Linear& linear, const at::Tensor& x) {
  if (!AppliesHalf(linear, x)) {
    return at::linear(x, linear.weight, Given(linear.bias));  // [..., outputs]
  }
  // A bias that trains has no copy.
  return at::linear(
      x, linear.half_weight,
      Given(linear.half_bias.defined() ? linear.half_bias : linear.bias));
}

bool CanApply(const Linear& linear, const at::Tensor& x) {
  return linear.weight.defined() || AppliesHalf(linear, x);
}

void KeepHalf(Linear& linear, std::optional<at::ScalarType> half) {
  const at::Tensor& kept = linear.half_weight;
  if (half.has_value() && kept.defined() && kept.scalar_type() == *half) return;
  linear.half_weight = linear.half_bias = at::Tensor();
  if (!half.has_value()) return;
  linear.half_weight = linear.weight.to(*half);
  if (linear.bias.defined() && !linear.bias.requires_grad()) {
    linear.half_bias = linear.bias.to(*half);
  }
}

Linear SideBySide(const std::vector<Linear>& maps) {
  const auto join = [&](at::Tensor Linear::* part) {
    std::vector<at::Tensor> parts;
    for (const Linear& each : maps) {
      if ((each.*part).defined()) parts.push_back(each.*part);
    }
    return parts.size() == maps.size() ? at::cat(parts) : at::Tensor();
  };
  Linear joined;
  joined.weight = join(&Linear::weight);
  joined.bias = join(&Linear::bias);
  joined.half_weight = join(&Linear::half_weight);
  joined.half_bias = join(&Linear::half_bias);
  return joined;
}

Linear Rows(const Linear& map, std::int64_t first, std::int64_t count) {
  Linear some;
  for (at::Tensor Linear::* part : {&Linear::weight, &Linear::bias,
                                    &Linear::half_weight, &Linear::half_bias}) {
    if ((map.*part).defined()) some.*part = (map.*part).narrow(0, first, count);
  }
  return some;
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm,
                     const ModelConfig& config) {
  return at::layer_norm(x, {x.size(-1)}, norm.weight, Given(norm.bias),
                        config.norm_epsilon);  // [..., H]
}

at::Tensor Activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kTanh:
      return at::tanh(x);
  }
  return x;
}

bool Trains(const Linear& linear) {
  return linear.weight.requires_grad() ||
         (linear.bias.defined() && linear.bias.requires_grad());
}

Rotation RotationOf(std::int64_t tokens, std::int64_t width, double theta,
                    const at::TensorOptions& options) {
  const at::Tensor share = at::arange(0, width, 2, options) / width;  // [D / 2]
  const at::Tensor turns = at::outer(at::arange(tokens, options),
                                     at::pow(theta, share).reciprocal());
  const at::Tensor both = at::cat({turns, turns}, 1);  // [N, D]
  return {both.cos(), both.sin()};
}

at::Tensor Rotate(const at::Tensor& x, const Rotation& rotation) {
  const at::Tensor whole = x.to(at::kFloat);
  const std::vector<at::Tensor> halves = whole.chunk(2, 3);
  const at::Tensor turned = at::cat({halves[1].neg(), halves[0]}, 3);
  const auto some = [&](const at::Tensor& of_all) {
    return of_all.narrow(0, 0, x.size(2));
  };
  return (whole * some(rotation.cosine) + turned * some(rotation.sine))
      .to(x.scalar_type());  // [B, A, M, D]
}

at::Tensor SplitHeads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads})
      .transpose(1, 2);  // [B, A, N, D]
}

at::Tensor MergeHeads(const at::Tensor& x) {
  return x.transpose(1, 2).reshape(
      {x.size(0), x.size(2), x.size(1) * x.size(3)});  // [B, N, H]
}

at::Tensor AdditiveMask(const at::Tensor& mask) {
  // Half of the lowest number is no infinity, also where it is rounded, or
  // multiplied by log2(e) by a kernel that takes powers of two. A token that
  // sees nothing then looks at all alike, in every kernel; of infinities alone
  // a softmax is no number, or 0. A processor adds it in fp32.
  const c10::DeviceType device = mask.device().type();
  const bool in_fp16 = !mask.is_cpu() &&
                       at::autocast::is_autocast_enabled(device) &&
                       at::autocast::get_autocast_dtype(device) == at::kHalf;
  const double lowest =
      in_fp16 ? double{std::numeric_limits<at::Half>::lowest()}
              : double{std::numeric_limits<at::BFloat16>::lowest()};
  const at::Tensor added =
      ((1 - mask).to(at::kFloat) * (lowest / 2)).unsqueeze(1);
  return mask.dim() == 2 ? added.unsqueeze(2) : added;  // [B, 1, 1 or N, N]
}

}  // namespace frostline::trainer
