// SPDX-License-Identifier: Apache-2.0
//
// File: optimizer.h
//
// Moves weights with AdamW, Adam or SGD, step for step as torch.optim does.
// Each tensor has a rate, or each slice of it if its attention heads have
// different rates.
//
//   AdamW: x <- x - r d x, then x <- x - r m^ / (sqrt(v^) + e)
//   Adam:  g <- g + d x,   then x <- x - r m^ / (sqrt(v^) + e)
//   SGD:   g <- g + d x,   m <- u m + g, then x <- x - r m
//
// r is the rate, d the decay, u the momentum (with 0, m is g); m^ and v^ are
// the corrected moments.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// What is done with gradients g and h of two tasks that point against each
// other, g . h < 0. One gives way: it loses its part along the other and
// becomes g - (g . h / h . h) h. Then all gradients are summed.
//
//   dominant  all others give way to the longest one
//   pcgrad    each gives way to each other, as that was, in a random order (Yu
//             et al., 2020, Gradient Surgery for Multi-Task Learning,
//             algorithm 1)
//
// The result is a weighted sum of the tasks' gradients, and the weights follow
// from inner products alone:
//   dominant, (1, 0) and (-2, 1): the second stays, the first becomes (.2, .4):
//   weights 1 and 1 + 2 / 5.
enum class Surgery : std::uint8_t { kNone, kDominant, kPcGrad };

// Inner products of gradients: [i][j] is that of tasks i and j.
using InnerProducts = std::vector<std::vector<double>>;

// What the random order of the tasks depends on.
struct SurgeryChance {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

// The weight of each task's gradient in the sum.
struct Mixture {
  std::vector<double> weights;  // by task
  bool conflict = false;        // two pointed against each other
};

Mixture MixGradients(Surgery surgery, const InnerProducts& products,
                     const SurgeryChance& chance);

// Returns the other tasks, in the order in which `task` gives way to them.
std::vector<std::size_t> OthersInTurn(std::size_t task, std::size_t tasks,
                                      const SurgeryChance& chance);

// How the loss is scaled in fp16, which has nothing below 6e-8, where many
// gradients are. The loss is multiplied by a power of two before the backward
// pass, and its gradients are divided by it again in fp32. If they overflow,
// the step is skipped and the scale halved. After many good steps it is
// doubled, as in torch.amp.GradScaler.

struct LossScaleOptions {
  int exponent = 16;  // of the first scale
  std::int64_t double_after = 2000;
};

// The scale of the loss in fp16, adjusted after each step. One thread uses it.
class LossScale {
 public:
  enum class Verdict : std::uint8_t {
    kMove,
    kSkip,      // the scale was too large: it is halved
    kHopeless,  // a smaller one is not possible: it is 1
  };

  explicit LossScale(const LossScaleOptions& options = {});

  double value() const;
  // Returns how many steps were skipped so far.
  std::int64_t skipped() const { return skipped_; }
  // Returns what to do with a step, and adjusts the scale. `finite` says
  // whether the step's gradients are finite.
  Verdict Judge(bool finite);

  // Print returns three whole numbers as text, which Restore reads back.
  // Restore returns false, and changes nothing, for any other text.
  std::string Print() const;
  bool Restore(std::string_view text);

 private:
  std::int64_t double_after_;
  std::int64_t exponent_;
  std::int64_t good_ = 0;  // steps since the scale changed
  std::int64_t skipped_ = 0;
};

// What one step did to each module: the length of its gradient before clipping,
// and of its movement. Measuring a movement copies the weights that train.

struct StepNorms {
  std::map<std::string, double> gradients;  // by module (freeze_plan.h)
  std::map<std::string, double> updates;    // empty: not asked for
};

// A measurement of one step. The model outlives it. All functions throw what
// LibTorch throws.
class NormProbe {
 public:
  explicit NormProbe(const Model& model) : model_(model) {}

  // Notes gradients, and weights if movements are wanted. Call it after the
  // backward pass, before gradients are clipped.
  void NoteGradients(bool and_weights);
  // Measures the movement. Call it after the optimizer. It waits for a GPU.
  StepNorms Measure() const;

 private:
  const Model& model_;
  std::vector<std::pair<std::string, at::Tensor>> gradients_;  // norms, []
  std::vector<std::pair<const Weight*, at::Tensor>> before_;
};

enum class OptimizerKind : std::uint8_t { kAdamW, kAdam, kSgd };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kAdamW;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double momentum = 0.0;      // of SGD
  double weight_decay = 0.0;  // of the tensors that decay
};

// A tensor that trains: its rate, and the optimizer's state for it.
struct TrainedTensor {
  std::string name;
  at::Tensor value;
  double rate = 0.0;
  at::Tensor slice_rates;  // when defined, `rate` is the largest of them
  bool decays = false;
  at::Tensor first;   // first moment; for SGD only with momentum
  at::Tensor second;  // second moment, for Adam and AdamW
  std::int64_t steps = 0;
};

// What is to be done with gradients, as tensors on the device, so that nobody
// waits for it.
struct GradientCheck {
  at::Tensor divisor = {};  // [] fp32, of every gradient; undefined: 1
  at::Tensor spoilt = {};   // [] fp32, 1: nothing may move; undefined: 0
};

// Returns a check that clips gradients of the L2 norm `norm` to `limit`, as
// torch.nn.utils.clip_grad_norm_ does; 0 clips nothing. They are spoilt if one
// of `figures`, the losses and the norm, is not finite.
GradientCheck CheckGradients(const at::Tensor& norm, double limit,
                             const at::Tensor& figures);

// The optimizer of the tensors that train. One thread uses it.
class Optimizer {
 public:
  // Undefined moments begin at 0. The tensors are shared with the caller. Rates
  // and decays never change.
  Optimizer(const OptimizerOptions& options,
            std::vector<TrainedTensor> tensors);

  // Takes one step with every rate multiplied by `factor`. Skips tensors
  // without a gradient, and waits for nothing. A step with spoilt gradients
  // moves nothing but is counted. Throws what LibTorch throws.
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
  // `before` holds the old values of tensors with different slices; the others
  // are undefined.
  void HoldBackSlices(const std::vector<at::Tensor>& before) const;

  OptimizerOptions options_;
  std::vector<TrainedTensor> tensors_;
  std::vector<Group> groups_;
  std::vector<at::Tensor> slice_parts_;  // rate / fastest; most undefined
};

// Returns the L2 norm over all gradients together, [], on their device, without
// waiting for it. There must be at least one gradient.
at::Tensor GlobalNorm(const std::vector<at::Tensor>& gradients);

// How rates change over the steps, as in transformers: up from 0 while warming
// up (so the very first step has rate 0), then down or level.

enum class ScheduleKind : std::uint8_t { kLinear, kConstant, kCosine };

// The share of its rate at which a module trains at each step.
struct Schedule {
  ScheduleKind kind = ScheduleKind::kLinear;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;

  // Returns the share, in [0, 1]. `step` counts the steps taken before this
  // one.
  double FactorAt(std::int64_t step) const;
  double SumOfFactors() const;
};

// Returns a share of all steps, rounded up.
std::int64_t WarmupSteps(double share, std::int64_t total_steps);

// Returns how far one step of an optimizer can move a weight, whatever its
// gradients are. The proofs are in docs/explanation/freezing.md.
//
// `clip_norm` is that of all gradients together, 0 without clipping. Returns
// kMisuse if there is no bound: for SGD without clipping, and for Adam if beta1
// squared is not below beta2.
Expected<StepBound> LongestStep(const OptimizerOptions& options,
                                double clip_norm);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_
