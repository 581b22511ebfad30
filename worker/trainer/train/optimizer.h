// SPDX-License-Identifier: Apache-2.0
//
// File: optimizer.h
//
// AdamW, Adam and SGD move step for step as in torch.optim, with a rate for
// each tensor and, where attention heads differ, for each slice.
//
//   AdamW: x <- x - r d x, then x <- x - r m^ / (sqrt(v^) + e)
//   Adam:  g <- g + d x,   then x <- x - r m^ / (sqrt(v^) + e)
//   SGD:   g <- g + d x,   m <- u m + g, then x <- x - r m
//
// r is the rate, d the decay, u the momentum (0: m is g), m^ and v^ the
// corrected moments.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/freeze/virtual_freeze.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

enum class OptimizerKind : std::uint8_t { kAdamW, kAdam, kSgd };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double momentum = 0.0;      // of SGD
  double weight_decay = 0.0;  // of the tensors that decay
};

struct TrainedTensor {
  std::string name;
  at::Tensor value;
  double rate = 0.0;
  at::Tensor slice_rates;  // when defined, `rate` is the largest of them
  bool decays = false;
  at::Tensor first;   // moment; of SGD only with momentum
  at::Tensor second;  // moment, of Adam and AdamW
  std::int64_t steps = 0;
};

// What is known of gradients on their device alone, so that nobody waits.
struct GradientCheck {
  at::Tensor divisor = {};  // [] fp32, of every gradient; undefined: 1
  at::Tensor spoilt = {};   // [] fp32, 1: nothing may move; undefined: 0
};

// Makes gradients whose L2 norm is `norm` at most `limit` long, as
// torch.nn.utils.clip_grad_norm_ does; 0 clips nothing. They are spoilt when
// one of `figures`, losses and the norm, is infinite or no number.
GradientCheck CheckGradients(const at::Tensor& norm, double limit,
                             const at::Tensor& figures);

class Optimizer {
 public:
  // Undefined moments begin at 0. The tensors are shared with the caller. Rates
  // and decays stay what they are.
  Optimizer(const OptimizerOptions& options,
            std::vector<TrainedTensor> tensors);

  // Multiplies every rate by `factor`, and passes over tensors without a
  // gradient. Waits for nothing. A step of spoilt gradients is counted all the
  // same. Throws what LibTorch throws.
  void Step(double factor, const GradientCheck& check = {});

  const std::vector<TrainedTensor>& tensors() const { return tensors_; }
  std::vector<TrainedTensor>& tensors() { return tensors_; }

 private:
  // Tensors of one rate, which move in a single pass over memory.
  struct Group {
    double rate = 0.0;
    double decay = 0.0;
    std::vector<std::size_t> members;
  };

  struct Lists;

  void Sort();
  Lists ListsOf(const Group& group,
                std::map<std::int64_t, at::Tensor>& counts) const;
  void StepWholeTensors(double factor, const GradientCheck& check) const;
  // `before` has those whose slices differ as they were, the others undefined.
  void HoldBackSlices(const std::vector<at::Tensor>& before) const;

  OptimizerOptions options_;
  std::vector<TrainedTensor> tensors_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> slice_parts_;  // of the fastest; most undefined
};

// Returns the L2 norm over all gradients together, [], on their device: nobody
// waits for it. There must be one.
at::Tensor GlobalNorm(const std::vector<at::Tensor>& gradients);

// A module trains at this share of its rate at each step, as in transformers:
// up from 0 while warming up (so the very first step has rate 0), then down or
// level.

enum class ScheduleKind : std::uint8_t { kLinear, kConstant, kCosine };

struct Schedule {
  ScheduleKind kind = ScheduleKind::kLinear;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;

  // It is in [0, 1]; `step` counts the steps taken before this one.
  double FactorAt(std::int64_t step) const;
  double SumOfFactors() const;
};

// Rounds a share of all steps up.
std::int64_t WarmupSteps(double share, std::int64_t total_steps);

// Says how far one step of an optimizer can move a weight, whatever its
// gradients are. The proofs are in docs/explanation/freezing.md.
//
// `clip_norm` is that of all gradients together, 0 without clipping. Returns
// kMisuse where there is no bound: SGD without clipping, and Adam whose beta1
// squared is not below beta2.
Expected<StepBound> LongestStep(const OptimizerOptions& options,
                                double clip_norm);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_
