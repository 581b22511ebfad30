// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/optimizer.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/lerp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <numbers>
#include <optional>
#include <system_error>
#include <utility>

#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {
namespace {

// Returns a draw by splitmix64 (Steele et al., 2014, figure 17).
std::uint64_t Mixed(std::uint64_t seed, std::uint64_t with) {
  std::uint64_t z = seed + (with + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

bool AnyConflict(const InnerProducts& products) {
  for (std::size_t i = 0; i < products.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (products[i][j] < 0.0) return true;
    }
  }
  return false;
}

void GiveWayToLongest(const InnerProducts& products,
                      std::vector<double>& weights) {
  std::size_t longest = 0;
  for (std::size_t i = 1; i < products.size(); ++i) {
    if (products[i][i] > products[longest][longest]) longest = i;
  }
  for (std::size_t i = 0; i < products.size(); ++i) {
    if (i == longest || !(products[i][longest] < 0.0)) continue;
    weights[longest] -= products[i][longest] / products[longest][longest];
  }
}

// `mine` holds the weights of all tasks' gradients in this task's gradient so
// far.
void GiveWayToEach(std::size_t task, const InnerProducts& products,
                   const SurgeryChance& chance, std::vector<double>& weights) {
  std::vector<double> mine(products.size(), 0.0);
  mine[task] = 1.0;
  for (const std::size_t other : OthersInTurn(task, products.size(), chance)) {
    double product = 0.0;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      product += mine[k] * products[k][other];
    }
    if (product < 0.0) mine[other] -= product / products[other][other];
  }
  for (std::size_t k = 0; k < mine.size(); ++k) weights[k] += mine[k];
}

}  // namespace

std::vector<std::size_t> OthersInTurn(std::size_t task, std::size_t tasks,
                                      const SurgeryChance& chance) {
  const std::uint64_t mine = Mixed(Mixed(chance.seed, chance.step), task);
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  for (std::size_t other = 0; other < tasks; ++other) {
    if (other != task) drawn.emplace_back(Mixed(mine, other), other);
  }
  std::sort(drawn.begin(), drawn.end());
  std::vector<std::size_t> order;
  for (const auto& [draw, other] : drawn) order.push_back(other);
  return order;
}

Mixture MixGradients(Surgery surgery, const InnerProducts& products,
                     const SurgeryChance& chance) {
  const std::size_t tasks = products.size();
  Mixture mixture = {std::vector<double>(tasks, 1.0), AnyConflict(products)};
  if (!mixture.conflict || surgery == Surgery::kNone) return mixture;
  if (surgery == Surgery::kDominant) {
    GiveWayToLongest(products, mixture.weights);
    return mixture;
  }
  mixture.weights.assign(tasks, 0.0);
  for (std::size_t task = 0; task < tasks; ++task) {
    GiveWayToEach(task, products, chance, mixture.weights);
  }
  return mixture;
}

namespace {

// The largest exponent that fp32 can hold.
constexpr std::int64_t kMostExponent = 127;

}  // namespace

LossScale::LossScale(const LossScaleOptions& options)
    : double_after_(options.double_after), exponent_(options.exponent) {}

double LossScale::value() const {
  return std::ldexp(1.0, static_cast<int>(exponent_));
}

LossScale::Verdict LossScale::Judge(bool finite) {
  if (finite) {
    if (++good_ < double_after_) return Verdict::kMove;
    good_ = 0;
    if (exponent_ < kMostExponent) ++exponent_;
    return Verdict::kMove;
  }
  good_ = 0;
  if (exponent_ == 0) return Verdict::kHopeless;
  --exponent_;
  ++skipped_;
  return Verdict::kSkip;
}

std::string LossScale::Print() const {
  return std::to_string(exponent_) + " " + std::to_string(good_) + " " +
         std::to_string(skipped_);
}

bool LossScale::Restore(std::string_view text) {
  std::array<std::int64_t, 3> numbers = {};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::int64_t& number : numbers) {
    if (&number != numbers.data() && (at == end || *at++ != ' ')) return false;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return false;
    at = next;
  }
  const auto [exponent, good, skipped] = numbers;
  if (at != end || exponent > kMostExponent) return false;
  exponent_ = exponent;
  good_ = good;
  skipped_ = skipped;
  return true;
}

namespace {

using NamedGradients = std::vector<std::pair<std::string, at::Tensor>>;

// Returns the norm of each module from those of its tensors.
std::map<std::string, double> ByModule(const NamedGradients& norms) {
  std::map<std::string, double> modules;
  for (const auto& [module, norm] : norms) {
    const auto value = norm.item<double>();
    modules[module] += value * value;
  }
  for (auto& [module, square] : modules) square = std::sqrt(square);
  return modules;
}

}  // namespace

void NormProbe::NoteGradients(bool and_weights) {
  for (const Weight& each : model_.weights()) {
    const at::Tensor& gradient = each.value.grad();
    if (!gradient.defined()) continue;
    gradients_.emplace_back(ModuleOf(each.spec),
                            at::linalg_vector_norm(gradient));
    if (!and_weights) continue;
    before_.emplace_back(&each, each.value.detach().clone());
  }
}

StepNorms NormProbe::Measure() const {
  NamedGradients updates;
  for (const auto& [weight, before] : before_) {
    updates.emplace_back(
        ModuleOf(weight->spec),
        at::linalg_vector_norm(weight->value.detach() - before));
  }
  return {ByModule(gradients_), ByModule(updates)};
}

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

// The tensors of one group that have a gradient, as LibTorch's fused steps take
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

// Moves each slice back to its part of the movement. A movement is proportional
// to its rate, and the whole tensor moved at the rate of its fastest slice.
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
  // Infinity minus infinity is no number, so this finds both.
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

// Returns the bound of Adam. By Cauchy and Schwarz |m| <= (1 - b1) sqrt(sum
// (b1^2 / b2)^i) sqrt(v / (1 - b2)). The corrections of the first steps make it
// smaller.
Expected<StepBound> OfAdam(const OptimizerOptions& options) {
  const double share = options.beta1 * options.beta1 / options.beta2;
  if (!(share < 1.0)) {
    return Unbounded("those of Adam have none unless beta1^2 is below beta2",
                     "raise training.extra.beta2, or leave virtual_tau out");
  }
  StepBound bound;
  bound.each =
      (1.0 - options.beta1) / std::sqrt((1.0 - options.beta2) * (1.0 - share));
  // Adam's decay is part of the gradient, so it is bounded with it.
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
