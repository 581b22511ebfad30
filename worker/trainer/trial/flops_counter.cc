// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/flops_counter.h"

#include <algorithm>
#include <string>
#include <utility>

#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

void FlopsCounter::AddStep(const Batch& batch) {
  const bool answers = setup_.tasks[batch.task].head.task == Task::kAnswers;
  const Flops flops = FlopsOf(batch.ids.size(0), batch.ids.size(1), batch.task,
                              answers ? CountLabels(batch.labels) : 0);
  const double shared = batch.boundary.defined() ? flops.prefix : 0.0;
  progress_.flops_spent += flops.spent - shared;
  progress_.flops_skipped += flops.skipped;
  progress_.flops_shared += shared;
}

FlopsCounter::Flops FlopsCounter::FlopsOf(std::int64_t texts,
                                          std::int64_t tokens, std::size_t task,
                                          std::int64_t answered) {
  if (plan_ != trained_.plans()) known_.clear();
  plan_ = trained_.plans();
  const std::array shape = {texts, tokens, static_cast<std::int64_t>(task),
                            answered};
  if (const auto known = known_.find(shape); known != known_.end()) {
    return known->second;
  }
  const Model& model = trained_.model();
  FreezePlan plan = trained_.plan();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    for (const std::string& module : setup_.tasks[task].request.freeze) {
      if (!IsWithin(model.weights()[i].spec, module)) continue;
      plan.parameters[i].needs_gradient = false;
    }
  }
  const StepFlops step = CountFlops(model.config(), model.heads(), plan, texts,
                                    tokens, task, answered);
  Flops flops = {step.spent(), step.skipped(), 0.0};
  for (std::size_t i = 0; std::cmp_less(i, plan.frozen_blocks); ++i) {
    flops.prefix += step.modules[i].forward;
  }
  const std::int64_t graph = std::max<std::int64_t>(1, plan.frozen_blocks);
  for (std::int64_t i = graph; i <= model.config().layers; ++i) {
    if (!model.config().recomputes) break;
    flops.spent += step.modules[static_cast<std::size_t>(i)].forward;
  }
  const SmartFlops smart =
      CountSmart(smart_, model.config(), model.heads(), plan.frozen_blocks,
                 step, texts, tokens, task);
  flops.spent += smart.spent;
  flops.skipped += smart.skipped;
  flops.prefix += smart.prefix;
  return known_.emplace(shape, flops).first->second;
}

void FlopsCounter::AddFill(Boundaries& boundaries) {
  for (const ComputedTexts& each : boundaries.TakeComputed()) {
    const double below = ForwardOf(each, each.from);
    progress_.flops_spent +=
        ForwardOf(each, trained_.plan().frozen_blocks) - below;
    progress_.flops_shared += below;
  }
}

double FlopsCounter::ForwardOf(const ComputedTexts& texts,
                               std::int64_t blocks) const {
  const Model& model = trained_.model();
  return CountPrefix(model.config(), model.heads(), blocks, texts.texts,
                     texts.batches, static_cast<std::int64_t>(texts.tokens));
}

}  // namespace frostline::trainer
