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
#include <string_view>
#include <utility>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/model/torch.h"

namespace frostline::trainer {

// What is done to the gradients of a step, and what a step did to each module.

// What becomes of the gradients g of several tasks where two of them point
// against each other, g . h < 0: one loses its part along the other,
// g - (g . h / h . h) h. Then all are summed.
//
//   dominant  all others to the longest one
//   pcgrad    each to each other, as it was, in a random order (Yu et al.,
//             2020, Gradient Surgery for Multi-Task Learning, algorithm 1)
//
// The sum is one of the tasks' gradients with other weights, and those follow
// from inner products alone:
//   dominant, (1, 0) and (-2, 1): the second stays, the first becomes (.2, .4):
//   weights 1 and 1 + 2 / 5.

enum class Surgery : std::uint8_t { kNone, kDominant, kPcGrad };

// [i][j] is the inner product of the gradients of tasks i and j.
using InnerProducts = std::vector<std::vector<double>>;

// What the random order of the tasks depends on: (seed, step).
struct SurgeryChance {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

struct Mixture {
  std::vector<double> weights;  // by task
  bool conflict = false;        // two pointed against each other
};

Mixture MixGradients(Surgery surgery, const InnerProducts& products,
                     const SurgeryChance& chance);

// The other tasks, in the order in which `task` gives way to them.
std::vector<std::size_t> OthersInTurn(std::size_t task, std::size_t tasks,
                                      const SurgeryChance& chance);

// fp16 knows nothing below 6e-8, where many gradients are. So the loss is
// multiplied by a power of two before it goes backwards, and its gradients are
// divided by it again, in fp32. Where they overflow the step is skipped and the
// scale halved; after many good steps it is doubled: as torch.amp.GradScaler.

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
    kHopeless,  // nor would a smaller one help: it is 1
  };

  explicit LossScale(const LossScaleOptions& options = {});

  double value() const;
  // Counts the skipped ones of all steps so far.
  std::int64_t skipped() const { return skipped_; }
  // Takes whether the gradients of a step under this scale are finite.
  Verdict Judge(bool finite);

  // Text of three whole numbers, that Restore takes back. False for another:
  // then nothing changes.
  std::string Print() const;
  bool Restore(std::string_view text);

 private:
  std::int64_t double_after_;
  std::int64_t exponent_;
  std::int64_t good_ = 0;  // steps since it changed
  std::int64_t skipped_ = 0;
};

// What one step did to each module: the length of its gradient, before
// clipping, and of its movement. A step that is measured copies what trains.

struct StepNorms {
  std::map<std::string, double> gradients;  // by module (freeze_plan.h)
  std::map<std::string, double> updates;
};

// Measures one step. The model outlives it. All functions throw what LibTorch
// throws.
class NormProbe {
 public:
  explicit NormProbe(const Model& model) : model_(model) {}

  // Behind the backward pass, before gradients are clipped.
  void NoteGradients();
  // Behind the optimizer. A GPU is waited for.
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

// What the device alone knows about gradients, so that nobody waits for it.
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
