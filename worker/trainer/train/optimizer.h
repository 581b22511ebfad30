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
#include <string>
#include <vector>

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
  at::Tensor slice_rates;  // instead of `rate`, when defined
  bool decays = false;
  at::Tensor first;   // moment; of SGD only with momentum
  at::Tensor second;  // moment, of Adam and AdamW
  std::int64_t steps = 0;
};

class Optimizer {
 public:
  // Undefined moments begin at 0. The tensors are shared with the caller. Rates
  // and decays stay what they are.
  Optimizer(const OptimizerOptions& options,
            std::vector<TrainedTensor> tensors);

  // Multiplies every rate by `factor`, and passes over tensors without a
  // gradient. Throws what LibTorch throws.
  void Step(double factor);

  const std::vector<TrainedTensor>& tensors() const { return tensors_; }
  std::vector<TrainedTensor>& tensors() { return tensors_; }

 private:
  // Tensors of one rate, which move in a single pass over memory.
  struct Group {
    double rate = 0.0;
    double decay = 0.0;
    std::vector<std::size_t> members;
  };

  void Sort();
  void StepWholeTensors(double factor) const;
  void StepSlices(const TrainedTensor& tensor, double factor) const;
  void StepSgd(const TrainedTensor& tensor, double factor) const;

  OptimizerOptions options_;
  std::vector<TrainedTensor> tensors_;
  std::vector<Group> groups_;  // of those without slices
};

// Returns the L2 norm over all gradients together, [], on their device: nobody
// waits for it. There must be one.
at::Tensor GlobalNorm(const std::vector<at::Tensor>& gradients);

// Scales gradients of this `norm` to at most `limit`, as
// torch.nn.utils.clip_grad_norm_ does; 0 clips nothing.
void ClipGradients(const std::vector<at::Tensor>& gradients, double norm,
                   double limit);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_OPTIMIZER_H_
