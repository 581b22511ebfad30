// SPDX-License-Identifier: Apache-2.0
//
// File: stepper.h
//
// Takes one training step after another: forward, loss, backward, clip, move,
// as the Trainer of transformers within 1e-4 after twenty steps
// (tests/worker/trainer/train).
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/freeze/apply_plan.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/smart.h"

namespace frostline::trainer {

// What a step of several tasks does besides: each task's share of the loss,
// the weights that its batches train, and its gradient of what the tasks share
// (everything but their heads), kept apart until they are mixed.

struct TaskOptions {
  double loss_weight = 1.0;
  std::set<std::string> frozen = {};  // modules that its batches do not train
};

// Returns the weight of each part of a step in its loss: each example weighs
// the same, whatever its task, or with `alike` each task as much as it would
// alone, times the task's weight; within a task as `weights` say.
std::vector<double> SharesOfParts(std::span<const Batch> parts,
                                  const std::vector<double>& weights,
                                  const std::vector<TaskOptions>& tasks,
                                  bool alike = false);

// Sets which weights have gradients for the batches of one task, and sets back
// what the plan says when it is destroyed. The model outlives it.
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

// The gradients of several tasks, kept apart until they are mixed. All
// functions throw what LibTorch throws. The model outlives it.
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

struct StepOptions {
  OptimizerOptions optimizer;
  // Weights with one of these in their names do not decay. By default biases
  // and LayerNorms do not (parameters.h).
  std::optional<std::vector<std::string>> no_decay;
  Schedule schedule;
  double clip_norm = 1.0;  // 0: no clipping
  double label_smoothing = 0.0;
  // In the step's loss, of each class, above 0; empty: all weigh the same.
  std::vector<double> class_weights;
  SmartOptions smart;
  // The model's layers have it; all else is fp32.
  Precision precision = Precision::kFp32;
  LossScaleOptions loss_scale;  // of fp16
  // Else as the device likes it.
  std::optional<Kernels> kernels;
  // By Batch::task; empty: the only one, as it is.
  std::vector<TaskOptions> tasks;
  bool tasks_alike = false;  // as SharesOfParts has it
  Surgery surgery = Surgery::kNone;
  std::uint64_t surgery_seed = 0;
};

struct StepResult {
  double loss = 0.0;       // before the step, with what SMART adds
  double grad_norm = 0.0;  // before clipping
  double factor = 0.0;     // of every rate
  std::int64_t step = 0;   // from 1 on
  // When the loss or the norm is not, nothing was moved.
  bool finite = true;
  // Nor then: the norm was none under this scale of the loss (optimizer.h),
  // and rates stay where they are.
  bool skipped = false;
  bool conflict = false;  // two tasks' gradients pointed against each other
  bool adversary_finite = true;  // of SMART
};

struct Prediction {
  at::Tensor logits;        // as ModelHead::Logits, fp32, in main memory
  double loss = 0.0;        // 0 without labels
  std::int64_t labels = 0;  // that the loss is the mean of
};

// Trains a model step by step. One thread uses it. The model outlives it, and
// its tensors are changed in place. Batches come in main memory, where checks
// cost nothing; the stepper moves them to the device.
class Stepper {
 public:
  // Returns kMisuse for options that make no sense. A plan may train nothing.
  static Expected<Stepper> Make(Model& model, const FreezePlan& plan,
                                const StepOptions& options);

  // Takes another plan from the next step on. What goes on training keeps its
  // moments, what begins has none. Returns kMisuse for a plan of another model:
  // then nothing changes.
  Expected<Done> Replan(const FreezePlan& plan);

  // Takes all of `parts` as one batch: each label weighs what its class does.
  // Where the model drops something, they have noise.
  // Waits for a GPU once, when all of the step has been handed to it.
  Expected<StepResult> Step(std::span<const Batch> parts);

  // The same, but where figures are late (layers.h) those of the step before
  // come back, or nothing when they have been read: so that a GPU has its next
  // step while we wait for the last one. What is true of a step, such as
  // `finite`, is then known one step later.
  // `norms`, when given, receives what the step does to each module; a GPU is
  // waited for then.
  Expected<std::optional<StepResult>> StepAhead(std::span<const Batch> parts,
                                                StepNorms* norms = nullptr);
  // Gives the figures of the last step, or nothing when they have been read.
  Expected<std::optional<StepResult>> ReadLast();

  // There is no dropout and no graph. It waits for a GPU once.
  Expected<Prediction> Predict(const Batch& batch) const;

  const Model& model() const { return *model_; }
  const FreezePlan& plan() const { return plan_; }
  const StepOptions& options() const { return options_; }
  std::int64_t steps() const { return steps_; }
  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }

  // The loss scale, which fp16 alone has.
  const std::optional<LossScale>& loss_scale() const { return loss_scale_; }
  std::optional<LossScale>& loss_scale() { return loss_scale_; }
  // None without it.
  const std::optional<Smart>& smart() const { return smart_; }

  void Resume(std::int64_t steps) { steps_ = steps; }

 private:
  Stepper(Model& model, const StepOptions& options);

  // Figures of a step: a loss for each part, then the norm if there is one.
  struct Unread {
    LateNumbers figures;
    std::size_t losses;
    std::size_t gradients;  // 1 with a norm
    StepResult result;
  };

  Unread StepOrThrow(std::span<const Batch> parts,
                     const std::vector<double>& weights, StepNorms* norms);
  // Leaves the gradients of all parts; adds the loss of each.
  bool Backward(std::span<const Batch> parts,
                const std::vector<double>& weights,
                std::vector<at::Tensor>& losses);
  at::Tensor LossOfPart(const Batch& part, double share);
  static StepResult ReadOrThrow(const Unread& unread);
  std::vector<at::Tensor> Gradients() const;
  bool Moves(const at::Tensor& figures, std::size_t losses, StepResult& result);

  Model* model_;
  FreezePlan plan_;
  StepOptions options_;
  // Undefined: all weigh the same.
  at::Tensor class_weights_;             // in main memory
  at::Tensor class_weights_here_;        // where the model is
  std::vector<at::Tensor> slice_rates_;  // by parameter, most undefined
  Optimizer optimizer_;
  std::int64_t steps_ = 0;
  std::optional<LossScale> loss_scale_;
  Kernels kernels_;
  std::optional<Smart> smart_;
  at::Tensor adversary_;  // gradient of this step's, [], with SMART
  std::optional<Unread> unread_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_
