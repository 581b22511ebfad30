// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/apply_plan.h"

#include <cmath>
#include <cstddef>

namespace frostline::trainer {

void ApplyPlan(const FreezePlan& plan, Model& model) {
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    at::Tensor& value = model.weights()[i].value;
    value.mutable_grad().reset();
    value.set_requires_grad(plan.parameters[i].needs_gradient);
  }
}

Pass TrainingPass(const FreezePlan& plan, at::Generator* chance) {
  Pass pass;
  pass.training = true;
  pass.frozen_blocks = plan.frozen_blocks;
  pass.still_blocks = plan.semantics.prefix_dropout == PrefixDropout::kOff
                          ? plan.prefix_blocks
                          : 0;
  pass.chance = chance;
  return pass;
}

at::Tensor SliceRates(const ParameterSpec& spec, const ParameterPlan& plan) {
  if (plan.head_rates.empty()) return {};
  const bool rows = spec.head_axis != HeadAxis::kColumns;
  const std::int64_t times = spec.head_axis == HeadAxis::kThreeRows ? 3 : 1;
  const std::int64_t width = (rows ? spec.shape[0] : spec.shape[1]) / times;
  const auto heads = static_cast<std::int64_t>(plan.head_rates.size());
  const at::Tensor rates = at::empty({heads}, at::kDouble);
  for (std::int64_t i = 0; i < heads; ++i) {
    rates[i].fill_(plan.head_rates[static_cast<std::size_t>(i)]);
  }
  const at::Tensor wide = rates.repeat_interleave(width / heads)
                              .repeat({times})
                              .to(at::kFloat);  // [H]
  return rows && spec.shape.size() == 2 ? wide.unsqueeze(1) : wide;
}

void MaskFrozenHeads(const FreezePlan& plan,
                     const std::vector<at::Tensor>& rates, Model& model) {
  if (plan.semantics.mode == FreezeMode::kLr0) return;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const at::Tensor& gradient = model.weights()[i].value.grad();
    if (!rates[i].defined() || !gradient.defined()) continue;
    gradient.masked_fill_(rates[i].eq(0), 0);
  }
}

std::map<std::string, WeightSize> SizesOfModules(const Model& model) {
  std::map<std::string, WeightSize> sizes;
  for (const Weight& each : model.weights()) {
    if (!each.spec.decays()) continue;
    const double norm =
        at::linalg_vector_norm(each.value.detach()).item<double>();
    WeightSize& size = sizes[ModuleOf(each.spec)];
    size.root_mean_square += norm * norm;
    size.count += static_cast<double>(each.value.numel());
  }
  for (auto& [module, size] : sizes) {
    size.root_mean_square = std::sqrt(size.root_mean_square / size.count);
  }
  return sizes;
}

}  // namespace frostline::trainer
