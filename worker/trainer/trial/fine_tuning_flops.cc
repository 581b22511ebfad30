// SPDX-License-Identifier: Apache-2.0
//
// What steps cost by count, and what they were spared.
#include <utility>

#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/train/smart.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {

// Texts of a batch cost the same, each shape is counted once for a plan.
FineTuning::Flops FineTuning::FlopsOf(std::int64_t texts, std::int64_t tokens,
                                      std::size_t task) {
  const std::array shape = {texts, tokens, static_cast<std::int64_t>(task)};
  if (const auto known = flops_.find(shape); known != flops_.end()) {
    return known->second;
  }
  FreezePlan plan = stepper_->plan();
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    for (const std::string& module : setup_.tasks[task].request.freeze) {
      if (!IsWithin(model_->weights()[i].spec, module)) continue;
      plan.parameters[i].needs_gradient = false;
    }
  }
  const StepFlops step =
      CountFlops(model_->config(), model_->heads(), plan, texts, tokens, task);
  Flops flops = {step.spent(), step.skipped(), 0.0};
  for (std::size_t i = 0; std::cmp_less(i, plan.frozen_blocks); ++i) {
    flops.prefix += step.modules[i].forward;
  }
  const SmartFlops smart =
      CountSmart(settings_.smart, model_->config(), model_->heads(),
                 plan.frozen_blocks, step, texts, tokens, task);
  flops.spent += smart.spent;
  flops.skipped += smart.skipped;
  flops.prefix += smart.prefix;
  return flops_.emplace(shape, flops).first->second;
}

void FineTuning::CountFlopsOf(const Batch& batch) {
  const Flops flops = FlopsOf(batch.ids.size(0), batch.ids.size(1), batch.task);
  const double shared = batch.boundary.defined() ? flops.prefix : 0.0;
  progress_.flops_spent += flops.spent - shared;
  progress_.flops_skipped += flops.skipped;
  progress_.flops_shared += shared;
}

// Texts whose boundary was computed on the way to a step: what they took, and
// what they did not, as a lower one was there.
void FineTuning::CountFill(Boundaries& boundaries) {
  for (const ComputedTexts& each : boundaries.TakeComputed()) {
    const double below = ForwardOf(each, each.from);
    progress_.flops_spent +=
        ForwardOf(each, stepper_->plan().frozen_blocks) - below;
    progress_.flops_shared += below;
  }
}

// Through the leading blocks.
double FineTuning::ForwardOf(const ComputedTexts& texts,
                             std::int64_t blocks) const {
  return CountPrefix(model_->config(), model_->heads(), blocks, texts.texts,
                     texts.batches, static_cast<std::int64_t>(texts.tokens));
}

}  // namespace frostline::trainer
