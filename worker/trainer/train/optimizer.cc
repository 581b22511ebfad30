// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/optimizer.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/lerp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

namespace frostline::trainer {
namespace {

std::optional<at::Tensor> Given(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
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

void Optimizer::Step(double factor, const GradientCheck& check) {
  const at::NoGradGuard no_graph;
  std::vector<at::Tensor> before(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    TrainedTensor& each = tensors_[i];
    if (!each.value.grad().defined()) continue;
    ++each.steps;
    if (each.slice_rates.defined()) before[i] = each.value.detach().clone();
  }
  StepWholeTensors(factor, check);
  HoldBackSlices(before);
}

void Optimizer::Sort() {
  std::map<std::pair<double, bool>, Group> groups;
  slice_parts_.resize(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const TrainedTensor& each = tensors_[i];
    if (each.slice_rates.defined()) {
      slice_parts_[i] = each.slice_rates / each.rate;
    }
    Group& group = groups[{each.rate, each.decays}];
    group.rate = each.rate;
    group.decay = each.decays ? options_.weight_decay : 0.0;
    group.members.push_back(i);
  }
  for (auto& [key, group] : groups) groups_.push_back(std::move(group));
}

// Tensors of one group that have a gradient, as LibTorch's fused steps take
// them.
struct Optimizer::Lists {
  std::vector<at::Tensor> values, gradients, first, second, steps;
};

Optimizer::Lists Optimizer::ListsOf(
    const Group& group, std::map<std::int64_t, at::Tensor>& counts) const {
  Lists lists;
  for (const std::size_t member : group.members) {
    const TrainedTensor& each = tensors_[member];
    const at::Tensor& gradient = each.value.grad();
    if (!gradient.defined()) continue;
    lists.values.push_back(each.value);
    lists.gradients.push_back(gradient);
    if (each.first.defined()) lists.first.push_back(each.first);
    if (!each.second.defined()) continue;
    lists.second.push_back(each.second);
    at::Tensor& count = counts[each.steps];
    if (!count.defined()) {
      count =
          at::full({}, static_cast<double>(each.steps), each.value.options());
    }
    lists.steps.push_back(count);
  }
  return lists;
}

void Optimizer::StepWholeTensors(double factor,
                                 const GradientCheck& check) const {
  const OptimizerOptions& o = options_;
  const std::optional<at::Tensor> divisor = Given(check.divisor);
  const std::optional<at::Tensor> spoilt = Given(check.spoilt);
  std::map<std::int64_t, at::Tensor> counts;  // on a GPU each is a call
  for (const Group& group : groups_) {
    const Lists all = ListsOf(group, counts);
    if (all.values.empty()) continue;
    const double rate = group.rate * factor;
    switch (o.kind) {
      case OptimizerKind::kAdamW:
        at::_fused_adamw_(all.values, all.gradients, all.first, all.second, {},
                          all.steps, rate, o.beta1, o.beta2, group.decay,
                          o.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                          divisor, spoilt);
        break;
      case OptimizerKind::kAdam:
        at::_fused_adam_(all.values, all.gradients, all.first, all.second, {},
                         all.steps, rate, o.beta1, o.beta2, group.decay,
                         o.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                         divisor, spoilt);
        break;
      case OptimizerKind::kSgd:
        at::_fused_sgd_(all.values, all.gradients, all.first, group.decay,
                        o.momentum, rate, /*dampening=*/0.0, /*nesterov=*/false,
                        /*maximize=*/false, /*is_first_step=*/false, divisor,
                        spoilt);
        break;
    }
  }
}

// A movement is so many times its rate: the tensor moved as its fastest slice
// does, and each slice takes its part of that.
void Optimizer::HoldBackSlices(const std::vector<at::Tensor>& before) const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (!before[i].defined()) continue;
    const at::Tensor& value = tensors_[i].value;
    value.copy_(at::lerp(before[i], value, slice_parts_[i]));
  }
}

at::Tensor GlobalNorm(const std::vector<at::Tensor>& gradients) {
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
}

GradientCheck CheckGradients(const at::Tensor& norm, double limit,
                             const at::Tensor& figures) {
  GradientCheck check;
  if (limit > 0.0) check.divisor = ((norm + 1e-6) / limit).clamp_min(1.0);
  // Infinity less infinity is no number either.
  const at::Tensor sum = figures.sum();
  check.spoilt = sum.sub(sum).ne(0).to(at::kFloat);
  return check;
}

double Schedule::FactorAt(std::int64_t step) const {
  if (step < warmup_steps) {
    return static_cast<double>(step) / static_cast<double>(warmup_steps);
  }
  if (kind == ScheduleKind::kConstant) return 1.0;
  const auto rest = static_cast<double>(
      std::max<std::int64_t>(1, total_steps - warmup_steps));
  if (kind == ScheduleKind::kLinear) {
    return std::max(0.0, static_cast<double>(total_steps - step) / rest);
  }
  const double done = static_cast<double>(step - warmup_steps) / rest;
  if (done >= 1.0) return 0.0;
  return 0.5 * (1.0 + std::cos(std::numbers::pi * done));
}

double Schedule::SumOfFactors() const {
  double sum = 0.0;
  for (std::int64_t step = 0; step < total_steps; ++step) {
    sum += FactorAt(step);
  }
  return sum;
}

std::int64_t WarmupSteps(double share, std::int64_t total_steps) {
  return static_cast<std::int64_t>(
      std::ceil(share * static_cast<double>(total_steps)));
}

namespace {

Fault Unbounded(const char* cause, const char* fix) {
  return {
      FaultKind::kMisuse,
      std::string("freeze.virtual_tau needs steps that have a bound, and ") +
          cause,
      fix};
}

// By Cauchy and Schwarz |m| <= (1 - b1) sqrt(sum (b1^2 / b2)^i) sqrt(v / (1 -
// b2)); the corrections of the first steps make it smaller.
Expected<StepBound> OfAdam(const OptimizerOptions& options) {
  const double share = options.beta1 * options.beta1 / options.beta2;
  if (!(share < 1.0)) {
    return Unbounded("those of Adam have none unless beta1^2 is below beta2",
                     "raise training.extra.beta2, or leave virtual_tau out");
  }
  StepBound bound;
  bound.each =
      (1.0 - options.beta1) / std::sqrt((1.0 - options.beta2) * (1.0 - share));
  // Adam's decay is part of the gradient, so that it is bounded with it.
  if (options.kind == OptimizerKind::kAdamW) {
    bound.decay = options.weight_decay;
  }
  return bound;
}

}  // namespace

Expected<StepBound> LongestStep(const OptimizerOptions& options,
                                double clip_norm) {
  if (options.kind != OptimizerKind::kSgd) return OfAdam(options);
  if (clip_norm <= 0.0) {
    return Unbounded("sgd without clipping has none",
                     "give training.clip_norm, take adamw, or leave "
                     "virtual_tau out");
  }
  // Momentum u gathers at most 1 + u + u^2 + …
  const double gathered = 1.0 / (1.0 - options.momentum);
  return StepBound{0.0, clip_norm * gathered, options.weight_decay * gathered};
}

}  // namespace frostline::trainer
