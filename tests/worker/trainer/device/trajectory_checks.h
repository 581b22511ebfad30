// SPDX-License-Identifier: Apache-2.0
//
// File: trajectory_checks.h
//
// The recorded runs of twenty steps, trained on a device.
#ifndef FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_TRAJECTORY_CHECKS_H_
#define FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_TRAJECTORY_CHECKS_H_

#include <string>

#include "tests/worker/trainer/device/verdicts.h"
#include "worker/trainer/device/device.h"

namespace frostline {

// trajectories/`name`.json: every loss and norm, the losses afterwards, and
// the weights.
void CheckTrajectory(const std::string& name, const Device& device,
                     const Limits& limits, Verdicts& verdicts);

}  // namespace frostline

#endif  // FROSTLINE_TESTS_WORKER_TRAINER_DEVICE_TRAJECTORY_CHECKS_H_
