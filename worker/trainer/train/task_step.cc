// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/task_step.h"

#include <algorithm>
#include <utility>

namespace frostline::trainer {
namespace {

double ExamplesOf(const Batch& part, double weight) {
  return weight == 0.0 ? 0.0 : static_cast<double>(part.labels.size(0));
}

}  // namespace

std::vector<double> SharesOfParts(std::span<const Batch> parts,
                                  const std::vector<double>& weights,
                                  const std::vector<TaskOptions>& tasks,
                                  bool alike) {
  double all = 0.0;
  std::map<std::size_t, double> examples;
  std::map<std::size_t, double> labels;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double here = ExamplesOf(parts[i], weights[i]);
    all += here;
    examples[parts[i].task] += here;
    labels[parts[i].task] += weights[i];
  }
  std::vector<double> shares;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t task = parts[i].task;
    const double of_task = alike ? 1.0 : examples[task] / all;
    shares.push_back(weights[i] == 0.0 ? 0.0
                                       : tasks[task].loss_weight * of_task *
                                             weights[i] / labels[task]);
  }
  return shares;
}

void TaskSwitch::To(std::size_t task) {
  if (tasks_.empty()) return;
  if (tasks_[task].frozen.empty() && !switched_) return;
  switched_ = true;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    Weight& each = model_.weights()[i];
    const bool trains =
        plan_.parameters[i].needs_gradient &&
        std::ranges::none_of(tasks_[task].frozen,
                             [&](const std::string& module) {
                               return IsWithin(each.spec, module);
                             });
    each.value.set_requires_grad(trains);
  }
}

TaskSwitch::~TaskSwitch() {
  if (!switched_) return;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    model_.weights()[i].value.set_requires_grad(
        plan_.parameters[i].needs_gradient);
  }
}

void TaskGradients::Take(std::size_t task) {
  std::vector<at::Tensor>& into = taken_[task];
  into.resize(model_.weights().size());
  for (std::size_t i = 0; i < into.size(); ++i) {
    Weight& each = model_.weights()[i];
    if (each.spec.part == Part::kHead) continue;  // no other task has it
    at::Tensor& gradient = each.value.mutable_grad();
    if (!gradient.defined()) continue;
    into[i] = into[i].defined() ? into[i].add_(gradient) : gradient;
    gradient.reset();
  }
}

InnerProducts TaskGradients::Products() const {
  InnerProducts products;
  for (const auto& [task, mine] : taken_) {
    products.emplace_back();
    for (const auto& [other, theirs] : taken_) {
      double sum = 0.0;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (!mine[i].defined() || !theirs[i].defined()) continue;
        sum += (mine[i] * theirs[i]).sum(at::kDouble).item<double>();
      }
      products.back().push_back(sum);
    }
  }
  return products;
}

bool TaskGradients::Mix(Surgery surgery, const SurgeryChance& chance) {
  const at::NoGradGuard no_graph;
  const Mixture mixture = MixGradients(surgery, Products(), chance);
  std::size_t turn = 0;
  for (auto& [task, gradients] : taken_) {
    const double weight = mixture.weights[turn++];
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      at::Tensor& into = model_.weights()[i].value.mutable_grad();
      at::Tensor mine = weight == 1.0 ? gradients[i] : gradients[i] * weight;
      into = into.defined() ? into + mine : mine;
    }
  }
  return mixture.conflict;
}

}  // namespace frostline::trainer
