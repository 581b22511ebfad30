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

// Switches gradients on and off, and drops old ones. REQUIRES: the plan was
// made for this model.
void ApplyPlan(const FreezePlan& plan, Model& model);

// Dropout draws from `chance`.
Pass TrainingPass(const FreezePlan& plan, at::Generator* chance);

// The rate of every slice, shaped to be multiplied with the tensor; undefined
// when one rate holds for all of it.
at::Tensor SliceRates(const ParameterSpec& spec, const ParameterPlan& plan);

// After a backward pass: removes the gradients of hard-frozen attention heads
// in tensors that train. `rates` are SliceRates, by parameter. Nothing to do
// under lr0.
void MaskFrozenHeads(const FreezePlan& plan,
                     const std::vector<at::Tensor>& rates, Model& model);

// Of the weights of each of ModuleNames, without biases and norms.
std::map<std::string, double> RootMeanSquares(const Model& model);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_APPLY_PLAN_H_
