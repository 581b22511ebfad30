// SPDX-License-Identifier: Apache-2.0
//
// File: trial_environment.h
//
// What a trial borrows from its trainer.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_ENVIRONMENT_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_ENVIRONMENT_H_

#include <functional>
#include <string>

#include "worker/trainer/device/device.h"
#include "worker/trainer/prefix/boundaries.h"

namespace frostline::trainer {

// All of it outlives the trial.
struct TrialEnvironment {
  Device& device;
  std::function<double()> seconds;  // of a steady clock
  // It lies between checkpoints; 0 saves after every step.
  double checkpoint_seconds = 300.0;
  const PrefixStore* prefixes = nullptr;  // none is kept without it
  std::string kernels;                    // KernelFingerprint of the device
  // What trials saw of batches, for those after them. May be null.
  SizeBook* size_book = nullptr;
  // What frozen layers gave and the device keeps, for all trials. May be null.
  ResidentRows* resident = nullptr;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRIAL_ENVIRONMENT_H_
