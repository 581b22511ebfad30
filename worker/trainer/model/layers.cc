// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/layers.h"

#include <ATen/autocast_mode.h>

#include <limits>

namespace frostline::trainer {

at::Tensor Apply(const Linear& linear, const at::Tensor& x) {
  const bool half = linear.half_weight.defined() &&
                    at::autocast::is_autocast_enabled(x.device().type());
  return at::linear(x, half ? linear.half_weight : linear.weight,
                    half ? linear.half_bias : linear.bias);  // [..., outputs]
}

at::Tensor Normalize(const at::Tensor& x, const Norm& norm,
                     const ModelConfig& config) {
  return at::layer_norm(x, {config.hidden}, norm.weight, norm.bias,
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
  }
  return x;
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
  const double lowest = std::numeric_limits<float>::lowest();
  return ((1 - mask).to(at::kFloat) * lowest)
      .unsqueeze(1)
      .unsqueeze(2);  // [B, 1, 1, N]
}

}  // namespace frostline::trainer
