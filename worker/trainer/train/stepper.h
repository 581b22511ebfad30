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
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/device/late_numbers.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/freeze/apply_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/schedule.h"

namespace frostline::trainer {

struct StepOptions {
  OptimizerOptions optimizer;
  // Weights with one of these in their names do not decay. By default biases
  // and LayerNorms do not (parameters.h).
  std::optional<std::vector<std::string>> no_decay;
  Schedule schedule;
  double clip_norm = 1.0;  // 0: no clipping
  double label_smoothing = 0.0;
  std::uint64_t seed = 0;  // of dropout
  // The model's layers have it; all else is fp32.
  Precision precision = Precision::kFp32;
  // Else as the device likes it.
  std::optional<Kernels> kernels;
};

struct StepResult {
  double loss = 0.0;       // before the step
  double grad_norm = 0.0;  // before clipping
  double factor = 0.0;     // of every rate
  std::int64_t step = 0;   // from 1 on
  // When the loss or the norm is not, nothing was moved.
  bool finite = true;
};

struct Prediction {
  at::Tensor logits;        // as ModelHead::Logits, fp32, in main memory
  double loss = 0.0;        // 0 without labels
  std::int64_t labels = 0;  // that the loss is the mean of
};

// One thread uses it. The model outlives it, and its tensors are changed in
// place. Batches are in main memory, where checks cost nothing, and moved by
// the stepper.
class Stepper {
 public:
  // Returns kMisuse for options that make no sense. A plan may train nothing.
  static Expected<Stepper> Make(Model& model, const FreezePlan& plan,
                                const StepOptions& options);

  // Takes another plan from the next step on. What goes on training keeps its
  // moments, what begins has none. Returns kMisuse for a plan of another model:
  // then nothing changes.
  Expected<Done> Replan(const FreezePlan& plan);

  // Takes all of `parts` as one batch: each label weighs the same.
  // Waits for a GPU once, when all of the step has been handed to it.
  Expected<StepResult> Step(std::span<const Batch> parts);

  // The same, but where figures are late (kernels.h) those of the step before
  // come back, or nothing when they have been read: so that a GPU has its next
  // step while we wait for the last one. What is true of a step, such as
  // `finite`, is then known one step later.
  Expected<std::optional<StepResult>> StepAhead(std::span<const Batch> parts);
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
  const at::Generator& chance() const { return chance_; }

  // `steps` were taken; `chance` is the state of dropout's generator.
  void Resume(std::int64_t steps, const at::Tensor& chance);

 private:
  Stepper(Model& model, const StepOptions& options);

  // Figures of a step: a loss for each part, then the norm if there is one.
  struct Unread {
    LateNumbers figures;
    std::size_t losses;
    StepResult result;
  };

  Unread StepOrThrow(std::span<const Batch> parts,
                     const std::vector<std::int64_t>& labels);
  at::Tensor LossOfPart(const Batch& part, double share);
  static StepResult ReadOrThrow(const Unread& unread);
  std::vector<at::Tensor> Gradients() const;

  Model* model_;
  FreezePlan plan_;
  StepOptions options_;
  std::vector<at::Tensor> slice_rates_;  // by parameter, most undefined
  Optimizer optimizer_;
  at::Generator chance_;
  std::int64_t steps_ = 0;
  Kernels kernels_;
  std::optional<Unread> unread_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_STEPPER_H_
