// SPDX-License-Identifier: Apache-2.0
//
// File: smart.h
//
// SMART (Jiang et al., 2020) adds two terms to a step's loss:
//
//   L + weight R_s + bregman D_Bregman       (equations 1 and 3)
//
// R_s is the mean over the examples of l_s(f(x~), f(x)), where x~ is what an
// adversary makes of x within a ball (algorithm 1); D_Bregman is the mean of
// l_s(f(x), f~(x)), where f~ has the momentum mean of earlier weights. l_s is
// the symmetric KL divergence of classes, or the squared error of numbers.
//
// x is what the embeddings give, or what the frozen prefix gives. All passes of
// a step drop the same numbers.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_SMART_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_SMART_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

// The settings of SMART.
struct SmartOptions {
  double weight = 0.0;  // 0: none of this
  double bregman = 0.0;
  // The momentum of the mean of weights; by default 0.99, and 0.999 after a
  // tenth of all steps, as in the paper's experiments.
  std::optional<double> momentum;
  std::int64_t steps = 1;  // of the adversary
  double radius = 1e-5;    // of its ball, in the infinity norm
  double step_size = 1e-3;
  double noise_variance = 1e-10;  // of its starting point
  bool at_boundary = false;
  bool pairs_together = false;  // both texts of a pair are moved at once
  // Draws the starting point, [B, N, H] like x; by default from the batch's
  // noise.
  std::function<at::Tensor(const at::Tensor& x, const Batch& batch)> begin = {};

  bool any() const { return weight > 0.0; }
  // Returns how often an example is moved.
  int TurnsOf(const HeadSpec& head) const {
    return head.apart() && !pairs_together ? 2 : 1;
  }
};

// The logits of a batch, and what the two terms add to its loss. `gradient` is
// the adversary's, which is no number if the adversary failed.
struct SmartTerms {
  at::Tensor logits;
  at::Tensor added;     // []
  at::Tensor gradient;  // []
};

// The two terms of SMART, with the mean of weights that one of them needs. One
// thread uses it. All functions throw what LibTorch throws.
class Smart {
 public:
  explicit Smart(const SmartOptions& options) : options_(options) {}

  // Makes the mean cover the weights that `plan` trains. New ones begin at
  // their present values; the others are forgotten.
  void Follow(const Model& model, const FreezePlan& plan);
  // Returns the terms of a batch, which is on the model's device.
  SmartTerms TermsOf(const Model& model, const Batch& batch,
                     const Pass& pass) const;
  // Updates the mean after step `step` of `all`, counted from 1.
  void NoteStep(std::int64_t step, std::int64_t all);

  // Returns the means by the names of weights; none without `bregman`. They may
  // be written to.
  const std::map<std::string, at::Tensor>& means() const { return means_; }

 private:
  at::Tensor Adversary(const Model& model, const at::Tensor& x,
                       const at::Tensor& clean, const at::Tensor& texts,
                       const Batch& batch, const Pass& pass, std::int64_t block,
                       at::Tensor& gradient) const;

  SmartOptions options_;
  std::map<std::string, at::Tensor> means_;
  std::map<std::string, at::Tensor> values_;  // the weights themselves
  std::optional<Model> mean_;                 // shares what does not train
};

// What SMART's passes cost beside the step's own, which is the clean pass.
// Texts are moved all at once, or the two of a pair one after the other if they
// are read apart. Each move costs
//
//   `steps` times  forward from what is moved, and back to it: gradients of
//                  inputs, of no weight
//   once           forward from there, and backward as the step's own
//
// and `bregman` costs one forward pass more. What is moved is what the
// embeddings give, so that all layers are gone through, or at the boundary what
// the frozen layers give.
struct SmartFlops {
  double spent = 0.0;
  // The backward pass of frozen weights in the layers that are gone through.
  double skipped = 0.0;
  // The part of `spent` that a batch saves if it brings its boundary.
  double prefix = 0.0;
};

// Returns what SMART costs; nothing without SMART. `step` is CountFlops of the
// same batch: `texts` of `tokens`, of the task with this number.
SmartFlops CountSmart(const SmartOptions& smart, const ModelConfig& config,
                      const Heads& heads, std::int64_t frozen_blocks,
                      const StepFlops& step, std::int64_t texts,
                      std::int64_t tokens, std::size_t task = 0);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_SMART_H_
