// SPDX-License-Identifier: Apache-2.0
//
// File: virtual_freeze.h
//
// Finds the modules whose rates are so small that training could not move them
// by what a study would notice (docs/explanation/freezing.md). Pure.
#ifndef FROSTLINE_WORKER_TRAINER_FREEZE_VIRTUAL_FREEZE_H_
#define FROSTLINE_WORKER_TRAINER_FREEZE_VIRTUAL_FREEZE_H_

#include <map>
#include <string>
#include <vector>

#include "worker/trainer/freeze/freeze_plan.h"

namespace frostline::trainer {

// One step of an optimizer moves no weight farther, whatever its gradients, in
// rates (train/optimizer.h). Both movements add up.
struct StepBound {
  double each = 0.0;      // of every single weight
  double together = 0.0;  // the L2 norm over all weights of a model
  double decay = 0.0;     // and beside them this part of the weight itself
};

// The size of a module's weights, without biases and norms.
struct WeightSize {
  double root_mean_square = 0.0;
  double count = 0.0;
};

// Returns the modules, not yet frozen, whose whole movement has a root mean
// square of at most `tau` times that of their weights. `factors` is the sum of
// the schedule over all steps. Modules without an entry in `sizes` are left
// alone, as all are when tau is 0.
std::vector<std::string> VirtuallyFrozen(
    const ModuleRates& rates, const std::map<std::string, WeightSize>& sizes,
    const StepBound& bound, double factors, double tau);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_VIRTUAL_FREEZE_H_
