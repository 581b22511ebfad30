// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/optimizer.h"

#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace frostline::trainer {
namespace {

// x <- x - rate * factor * change, with one rate or one for each slice.
void Move(const TrainedTensor& tensor, double factor,
          const at::Tensor& change) {
  if (tensor.slice_rates.defined()) {
    tensor.value.sub_(change * tensor.slice_rates * factor);
  } else {
    tensor.value.sub_(change, tensor.rate * factor);
  }
}

}  // namespace

Optimizer::Optimizer(const OptimizerOptions& options,
                     std::vector<TrainedTensor> tensors)
    : options_(options), tensors_(std::move(tensors)) {
  Sort();
  const bool adam = options_.kind != OptimizerKind::kSgd;
  if (!adam && options_.momentum == 0.0) return;
  for (TrainedTensor& each : tensors_) {
    if (each.first.defined()) continue;
    each.first = at::zeros_like(each.value.detach());
    if (adam) each.second = at::zeros_like(each.value.detach());
  }
}

void Optimizer::Step(double factor) {
  const at::NoGradGuard no_graph;
  for (TrainedTensor& each : tensors_) {
    if (!each.value.grad().defined()) continue;
    ++each.steps;
    if (options_.kind == OptimizerKind::kSgd) {
      StepSgd(each, factor);
    } else if (each.slice_rates.defined()) {
      StepSlices(each, factor);
    }
  }
  if (options_.kind != OptimizerKind::kSgd) StepWholeTensors(factor);
}

void Optimizer::Sort() {
  std::map<std::pair<double, bool>, Group> groups;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const TrainedTensor& each = tensors_[i];
    if (each.slice_rates.defined()) continue;
    Group& group = groups[{each.rate, each.decays}];
    group.rate = each.rate;
    group.decay = each.decays ? options_.weight_decay : 0.0;
    group.members.push_back(i);
  }
  for (auto& [key, group] : groups) groups_.push_back(std::move(group));
}

void Optimizer::StepWholeTensors(double factor) const {
  const OptimizerOptions& o = options_;
  std::map<std::int64_t, at::Tensor> counts;  // on a GPU each is a call
  std::vector<at::Tensor> values, gradients, first, second, steps;
  for (const Group& group : groups_) {
    for (auto* list : {&values, &gradients, &first, &second, &steps}) {
      list->clear();
    }
    for (const std::size_t member : group.members) {
      const TrainedTensor& each = tensors_[member];
      const at::Tensor& gradient = each.value.grad();
      if (!gradient.defined()) continue;
      at::Tensor& count = counts[each.steps];
      if (!count.defined()) {
        count =
            at::full({}, static_cast<double>(each.steps), each.value.options());
      }
      values.push_back(each.value);
      gradients.push_back(gradient);
      first.push_back(each.first);
      second.push_back(each.second);
      steps.push_back(count);
    }
    if (values.empty()) continue;
    const double rate = group.rate * factor;
    if (o.kind == OptimizerKind::kAdamW) {
      at::_fused_adamw_(values, gradients, first, second, {}, steps, rate,
                        o.beta1, o.beta2, group.decay, o.epsilon,
                        /*amsgrad=*/false, /*maximize=*/false);
    } else {
      at::_fused_adam_(values, gradients, first, second, {}, steps, rate,
                       o.beta1, o.beta2, group.decay, o.epsilon,
                       /*amsgrad=*/false, /*maximize=*/false);
    }
  }
}

// The formulas above, for rates that differ within the tensor.
void Optimizer::StepSlices(const TrainedTensor& tensor, double factor) const {
  const double decay = tensor.decays ? options_.weight_decay : 0.0;
  at::Tensor gradient = tensor.value.grad();
  if (decay != 0.0) {
    if (options_.kind == OptimizerKind::kAdamW) {
      Move(tensor, factor * decay, tensor.value);
    } else {
      gradient = gradient.add(tensor.value, decay);
    }
  }
  tensor.first.lerp_(gradient, 1.0 - options_.beta1);
  tensor.second.mul_(options_.beta2)
      .addcmul_(gradient, gradient, 1.0 - options_.beta2);
  const auto steps = static_cast<double>(tensor.steps);
  const double first_share = 1.0 - std::pow(options_.beta1, steps);
  const double second_share = 1.0 - std::pow(options_.beta2, steps);
  const at::Tensor size =
      tensor.second.sqrt().div_(std::sqrt(second_share)).add_(options_.epsilon);
  Move(tensor, factor / first_share, tensor.first / size);
}

void Optimizer::StepSgd(const TrainedTensor& tensor, double factor) const {
  const double decay = tensor.decays ? options_.weight_decay : 0.0;
  at::Tensor gradient = tensor.value.grad();
  if (decay != 0.0) gradient = gradient.add(tensor.value, decay);
  if (options_.momentum != 0.0) {
    gradient = tensor.first.mul_(options_.momentum).add_(gradient);
  }
  Move(tensor, factor, gradient);
}

at::Tensor GlobalNorm(const std::vector<at::Tensor>& gradients) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
}

void ClipGradients(const std::vector<at::Tensor>& gradients, double norm,
                   double limit) {
  if (limit <= 0.0 || gradients.empty()) return;
  const double factor = std::min(1.0, limit / (norm + 1e-6));
  if (factor < 1.0) at::_foreach_mul_(gradients, factor);
}

}  // namespace frostline::trainer
