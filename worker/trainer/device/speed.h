// SPDX-License-Identifier: Apache-2.0
//
// File: speed.h
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_SPEED_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_SPEED_H_

#include <chrono>

#include "worker/trainer/device/device.h"

namespace frostline::trainer {

// Returns operations by second in 1e9: the best of the square products that fit
// into `time`, after one that does not count. Throws what LibTorch throws.
double MeasureGflops(const Device& device, Precision precision,
                     std::chrono::milliseconds time);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_SPEED_H_
