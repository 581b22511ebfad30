// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/step_norms.h"

#include <cmath>

#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {
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
