// SPDX-License-Identifier: Apache-2.0
//
// File: apply_plan.h
#ifndef FROSTLINE_WORKER_TRAINER_FREEZE_APPLY_PLAN_H_
#define FROSTLINE_WORKER_TRAINER_FREEZE_APPLY_PLAN_H_

#include <map>
#include <string>
#include <vector>

#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

// Switches gradients on and off, and drops old ones. The plan must be this
// model's.
void ApplyPlan(const FreezePlan& plan, Model& model);

Pass TrainingPass(const FreezePlan& plan);

// Returns the rate of every slice, shaped to be multiplied with the tensor, or
// undefined when one rate holds for all of it.
at::Tensor SliceRates(const ParameterSpec& spec, const ParameterPlan& plan);

// Removes, after a backward pass, the gradients of hard-frozen attention heads
// in tensors that train. `rates` are SliceRates, by parameter.
void MaskFrozenHeads(const FreezePlan& plan,
                     const std::vector<at::Tensor>& rates, Model& model);

// Measures the weights of each of ModuleNames, without biases and norms.
std::map<std::string, WeightSize> SizesOfModules(const Model& model);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_APPLY_PLAN_H_
