// SPDX-License-Identifier: Apache-2.0
//
// File: stepper.h
//
// One training step after another: forward, loss, backward, clip, move. What
// the Trainer of transformers does with the same numbers, within 1e-4 after
// twenty steps (tests/worker/trainer/train).
//
//   Expected<Stepper> stepper = Stepper::Make(model, plan, options);
//   Expected<StepResult> result = stepper.value().Step({&batch, 1});
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/freeze/apply_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/schedule.h"

namespace frostline::trainer {

struct StepOptions {
  OptimizerOptions optimizer;
  // Weights with one of these in their names do not decay, all others do.
  // Nothing: no bias and nothing of a LayerNorm decays (parameters.h).
  std::optional<std::vector<std::string>> no_decay;
  Schedule schedule;
  double clip_norm = 1.0;  // 0: no clipping
  double label_smoothing = 0.0;
  std::uint64_t seed = 0;  // of dropout
  // Of the model's layers; weights, moments and losses are fp32 in any case.
  Precision precision = Precision::kFp32;
};

struct StepResult {
  double loss = 0.0;       // before the step
  double grad_norm = 0.0;  // before clipping
  double factor = 0.0;     // of every rate
  // False when the loss or the norm is not: then nothing was moved.
  bool finite = true;
};

// What a batch gave without training.
struct Prediction {
  at::Tensor logits;        // as Model::Head, fp32, in main memory
  double loss = 0.0;        // 0 without labels
  std::int64_t labels = 0;  // that the loss is the mean of
};

// Not for several threads. The model must outlive it; its tensors are changed
// in place. It computes where the model is. Give it batches in main memory:
// there they are checked for nothing, and moved by the stepper; a step then
// waits for a GPU once, to read the losses and the norm together.
class Stepper {
 public:
  // kMisuse for options that make no sense. Nothing trains: allowed, every step
  // then moves nothing.
  static Expected<Stepper> Make(Model& model, const FreezePlan& plan,
                                const StepOptions& options);

  // Another plan from the next step on, as when layers thaw one by one. What
  // goes on training keeps its moments, what begins begins without. kMisuse
  // for a plan of another model: then nothing changes.
  Expected<Done> Replan(const FreezePlan& plan);

  // One step over all of `parts` as if they were one batch: each label weighs
  // the same, however they are cut.
  Expected<StepResult> Step(std::span<const Batch> parts);

  // Without dropout and without a graph.
  Expected<Prediction> Predict(const Batch& batch) const;

  const Model& model() const { return *model_; }
  const FreezePlan& plan() const { return plan_; }
  const StepOptions& options() const { return options_; }
  std::int64_t steps() const { return steps_; }
  Optimizer& optimizer() { return optimizer_; }
  const Optimizer& optimizer() const { return optimizer_; }
  const at::Generator& chance() const { return chance_; }

  // For resuming: the steps that were taken, and the state of dropout's
  // generator.
  void Resume(std::int64_t steps, const at::Tensor& chance);

 private:
  Stepper(Model& model, const StepOptions& options);

  // `labels` are those of each part; together at least one.
  StepResult StepOrThrow(std::span<const Batch> parts,
                         const std::vector<std::int64_t>& labels);
  // Of a whole step, scaled to be a share of it: [].
  at::Tensor LossOfPart(const Batch& part, double share);
  // Reads the losses and the norm of the gradients.
  void ReadFigures(std::vector<at::Tensor> losses,
                   const std::vector<at::Tensor>& gradients,
                   StepResult& result) const;
  std::vector<at::Tensor> Gradients() const;

  Model* model_;
  FreezePlan plan_;
  StepOptions options_;
  std::vector<at::Tensor> slice_rates_;  // by parameter, most undefined
  Optimizer optimizer_;
  at::Generator chance_;
  std::int64_t steps_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_
