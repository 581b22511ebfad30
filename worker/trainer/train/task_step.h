// SPDX-License-Identifier: Apache-2.0
//
// File: task_step.h
//
// What a step of several tasks does besides: each task's share of the loss,
// the weights that its batches train, and its gradient of what the tasks share
// (everything but their heads), kept apart until they are mixed.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_TASK_STEP_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_TASK_STEP_H_

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/gradient_surgery.h"

namespace frostline::trainer {

struct TaskOptions {
  double loss_weight = 1.0;
  std::set<std::string> frozen = {};  // modules that its batches do not train
};

// Of each part of a step in its loss: each example weighs the same, whatever
// its task, or with `alike` each task as much as it would alone, times the
// task's weight; within a task as `weights` say.
std::vector<double> SharesOfParts(std::span<const Batch> parts,
                                  const std::vector<double>& weights,
                                  const std::vector<TaskOptions>& tasks,
                                  bool alike = false);

// Switches the weights' gradients to what the batches of one task train, and
// back to the plan's behind it. The model outlives it.
class TaskSwitch {
 public:
  TaskSwitch(Model& model, const FreezePlan& plan,
             const std::vector<TaskOptions>& tasks)
      : model_(model), plan_(plan), tasks_(tasks) {}
  ~TaskSwitch();
  TaskSwitch(const TaskSwitch&) = delete;
  TaskSwitch& operator=(const TaskSwitch&) = delete;

  void To(std::size_t task);

 private:
  Model& model_;
  const FreezePlan& plan_;
  const std::vector<TaskOptions>& tasks_;
  bool switched_ = false;
};

// All throw what LibTorch throws. The model outlives it.
class TaskGradients {
 public:
  explicit TaskGradients(Model& model) : model_(model) {}

  // Takes what the weights have by now, and adds it to this task's.
  void Take(std::size_t task);
  // Gives the weights the mixture of all. A GPU is waited for. Says whether two
  // pointed against each other.
  bool Mix(Surgery surgery, const SurgeryChance& chance);

 private:
  InnerProducts Products() const;

  Model& model_;
  // By task, then by weight; undefined ones are zeros.
  std::map<std::size_t, std::vector<at::Tensor>> taken_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_TASK_STEP_H_
