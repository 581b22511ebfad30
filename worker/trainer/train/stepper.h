// SPDX-License-Identifier: Apache-2.0
//
// File: stepper.h
//
// Takes one training step after another: forward, loss, backward, clip, move.
// After twenty steps it is within 1e-4 of the Trainer of transformers
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

// How one of several tasks trains.
struct TaskOptions {
  double loss_weight = 1.0;
  std::set<std::string> frozen = {};  // modules that its batches do not train
};

// Returns the weight of each part of a step in its loss. Each example weighs
// the same whatever its task; with `alike` each task weighs as much as it would
// alone. Both are multiplied by the task's weight. Within a task, parts weigh
// as `weights` says.
std::vector<double> SharesOfParts(std::span<const Batch> parts,
                                  const std::vector<double>& weights,
                                  const std::vector<TaskOptions>& tasks,
                                  bool alike = false);

// A switch between tasks: it sets which weights have gradients for the batches
// of one task. Its destructor restores the plan. The model outlives it.
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

// The gradients of several tasks for the weights that they share, which are all
// but their heads', kept apart until they are mixed. All functions throw what
// LibTorch throws. The model outlives it.
class TaskGradients {
 public:
  explicit TaskGradients(Model& model) : model_(model) {}

  // Moves the weights' gradients into this task's, except those of heads.
  void Take(std::size_t task);
  // Gives the weights the mixture of all tasks' gradients. Waits for a GPU.
  // Returns whether two gradients pointed against each other.
  bool Mix(Surgery surgery, const SurgeryChance& chance);

 private:
  InnerProducts Products() const;

  Model& model_;
  // By task, then by weight; undefined ones are zeros.
  std::map<std::size_t, std::vector<at::Tensor>> taken_;
};

// The settings of all steps.
struct StepOptions {
  OptimizerOptions optimizer;
  // Weights with one of these in their names do not decay. By default biases
  // and LayerNorms do not (parameters.h).
  std::optional<std::vector<std::string>> no_decay;
  Schedule schedule;
  double clip_norm = 1.0;  // 0: no clipping
  double label_smoothing = 0.0;
  // The weight of each class in the loss, above 0. Empty: all weigh the same.
  std::vector<double> class_weights;
  SmartOptions smart;
  // The precision of the model's layers; all else is fp32.
  Precision precision = Precision::kFp32;
  LossScaleOptions loss_scale;  // of fp16
  // Without a value, those that suit the device.
  std::optional<Kernels> kernels;
  // By Batch::task. Empty: there is only one task, without options.
  std::vector<TaskOptions> tasks;
  bool tasks_alike = false;  // `alike` of SharesOfParts
  Surgery surgery = Surgery::kNone;
  std::uint64_t surgery_seed = 0;
};

// The figures of one step.
struct StepResult {
  double loss = 0.0;       // before the step, SMART's terms included
  double grad_norm = 0.0;  // before clipping
  double factor = 0.0;     // of every rate
  std::int64_t step = 0;   // from 1 on
  // Whether loss and norm are finite. If not, nothing was moved.
  bool finite = true;
  // Nothing was moved either: the norm was not finite under this scale of the
  // loss (optimizer.h). The schedule does not go on.
  bool skipped = false;
  bool conflict = false;  // two tasks' gradients pointed against each other
  bool adversary_finite = true;  // SMART's
};

// What the model says about a batch.
struct Prediction {
  at::Tensor logits;        // as ModelHead::Logits, fp32, in main memory
  double loss = 0.0;        // 0 without labels
  std::int64_t labels = 0;  // the loss is their mean
};

// The training of a model, step by step. One thread uses it. The model outlives
// it, and its tensors are changed in place. Batches come in main memory, where
// checks cost nothing; the stepper moves them to the device.
class Stepper {
 public:
  // Returns kMisuse for options that make no sense. A plan may train nothing.
  static Expected<Stepper> Make(Model& model, const FreezePlan& plan,
                                const StepOptions& options);

  // Follows another plan from the next step on. Weights that go on training
  // keep their moments; new ones begin at 0. Returns kMisuse, and changes
  // nothing, for a plan of another model.
  Expected<Done> Replan(const FreezePlan& plan);

  // Takes one step with all of `parts` as one batch; each label weighs what its
  // class does. If the model has dropout, the parts have noise. It waits for a
  // GPU once, after the whole step was handed to it.
  Expected<StepResult> Step(std::span<const Batch> parts);

  // Takes one step like Step. If figures are late (layers.h), it returns those
  // of the step before, or nothing if they have been read. So a GPU has its
  // next step while we wait for the last one, and `finite` and the other
  // figures are known one step later. `norms`, if given, receives what the step
  // does to each module, or its gradients alone; then it waits for a GPU.
  Expected<std::optional<StepResult>> StepAhead(std::span<const Batch> parts,
                                                StepNorms* norms = nullptr,
                                                bool gradients_alone = false);
  // Returns the figures of the last step, or nothing if they have been read.
  Expected<std::optional<StepResult>> ReadLast();

  // Returns the gradient that a step with all of `parts` would have, before it
  // is clipped, by the place of each weight; most are undefined where little
  // trains. Nothing moves, and no step is counted.
  Expected<std::vector<at::Tensor>> Probe(std::span<const Batch> parts);

  // Predicts a batch, without dropout or graph. Waits for a GPU once.
  Expected<Prediction> Predict(const Batch& batch) const;

  // Returns the batch as a step computes it: padded, and on the device. Throws
  // what LibTorch throws.
  Batch OnDevice(const Batch& batch) const;

  const Model& model() const { return *model_; }
  const FreezePlan& plan() const { return plan_; }
  const StepOptions& options() const { return options_; }
  std::int64_t steps() const { return steps_; }
  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }

  // The loss scale, which fp16 alone has.
  const std::optional<LossScale>& loss_scale() const { return loss_scale_; }
  std::optional<LossScale>& loss_scale() { return loss_scale_; }
  // Returns nothing without SMART.
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

  // Returns the weight of each part in the loss, by its labels, or kMisuse for
  // parts that do not fit.
  Expected<std::vector<double>> WeighParts(std::span<const Batch> parts) const;
  Unread StepOrThrow(std::span<const Batch> parts,
                     const std::vector<double>& weights, StepNorms* norms,
                     bool gradients_alone);
  // Computes the gradients of all parts, and adds the loss of each to `losses`.
  // Returns whether tasks pointed against each other.
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
  // Undefined if all classes weigh the same.
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
