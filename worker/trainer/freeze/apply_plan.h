// SPDX-License-Identifier: Apache-2.0
//
// File: apply_plan.h
//
// A freeze plan brought to a model's tensors.
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

// How a model runs under a plan. `chance` is drawn from by dropout.
Pass TrainingPass(const FreezePlan& plan, at::Generator* chance);

// The rate of every slice, shaped to be multiplied with the tensor; undefined
// when one rate holds for all of it.
at::Tensor SliceRates(const ParameterSpec& spec, const ParameterPlan& plan);

// After a backward pass: removes the gradients of attention heads that are
// hard-frozen inside of tensors that train. `rates` are SliceRates, in the
// order of the parameters. Nothing to do under lr0.
void MaskFrozenHeads(const FreezePlan& plan,
                     const std::vector<at::Tensor>& rates, Model& model);

// Of the weights of each module of ModuleNames, biases and norms left out.
std::map<std::string, double> RootMeanSquares(const Model& model);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_APPLY_PLAN_H_
