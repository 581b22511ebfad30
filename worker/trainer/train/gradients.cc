// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/gradients.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>

#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {
namespace {

// splitmix64 (Steele et al., 2014, figure 17).
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

// `mine` says of what one task's gradient consists by now.
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

// The norm over all tensors of a module, from those of each.
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

void NormProbe::NoteGradients() {
  for (const Weight& each : model_.weights()) {
    const at::Tensor& gradient = each.value.grad();
    if (!gradient.defined()) continue;
    gradients_.emplace_back(ModuleOf(each.spec),
                            at::linalg_vector_norm(gradient));
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

}  // namespace frostline::trainer
