// SPDX-License-Identifier: Apache-2.0
//
// File: gradients.h
//
// What is done to the gradients of a step, and what a step did to each module.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENTS_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/trainer/model/model.h"

namespace frostline::trainer {

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

// Whose turn comes when: a function of (seed, step).
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

// It looks at one step after another and answers. One thread uses it.
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

// One for a step. The model outlives it. All throw what LibTorch throws.
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_GRADIENTS_H_
