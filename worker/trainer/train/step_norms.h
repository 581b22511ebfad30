// SPDX-License-Identifier: Apache-2.0
//
// File: step_norms.h
//
// What one step did to each module: the length of its gradient, before
// clipping, and of its movement. A step that is measured copies what trains.
#ifndef FROSTLINE_WORKER_TRAINER_TRAIN_STEP_NORMS_H_
#define FROSTLINE_WORKER_TRAINER_TRAIN_STEP_NORMS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/model/model.h"

namespace frostline::trainer {

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

#endif  // FROSTLINE_WORKER_TRAINER_TRAIN_STEP_NORMS_H_
