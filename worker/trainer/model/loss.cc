// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/loss.h"

namespace frostline::trainer {

std::int64_t CountLabels(const at::Tensor& labels) {
  if (labels.scalar_type() != at::kLong) return labels.numel();
  return labels.ne(kIgnoredLabel).sum().item<std::int64_t>();
}

double WeighLabels(const at::Tensor& labels, const at::Tensor& class_weights) {
  if (!class_weights.defined()) {
    return static_cast<double>(CountLabels(labels));
  }
  const at::Tensor counted =
      labels.masked_select(labels.ne(kIgnoredLabel));  // [labels]
  return class_weights.index_select(0, counted).sum().item<double>();
}

at::Tensor LossOf(const HeadSpec& head, const at::Tensor& logits,
                  const at::Tensor& labels, double smoothing,
                  const at::Tensor& class_weights) {
  if (head.task == Task::kRegression) {
    return at::mse_loss(logits.reshape(-1), labels);  // []
  }
  return at::cross_entropy_loss(
      logits.reshape({-1, head.outputs}), labels.reshape(-1), class_weights,
      at::Reduction::Mean, kIgnoredLabel, smoothing);  // []
}

}  // namespace frostline::trainer
