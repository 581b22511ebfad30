// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/loss.h"

namespace frostline::trainer {

std::int64_t CountLabels(const at::Tensor& labels) {
  if (labels.scalar_type() != at::kLong) return labels.numel();
  return labels.ne(kIgnoredLabel).sum().item<std::int64_t>();
}

at::Tensor LossOf(const HeadSpec& head, const at::Tensor& logits,
                  const at::Tensor& labels, double smoothing) {
  if (head.task == Task::kRegression || head.task == Task::kPairCosine) {
    return at::mse_loss(logits.reshape(-1), labels);  // []
  }
  return at::cross_entropy_loss(logits.reshape({-1, head.outputs}),
                                labels.reshape(-1), {}, at::Reduction::Mean,
                                kIgnoredLabel, smoothing);  // []
}

}  // namespace frostline::trainer
