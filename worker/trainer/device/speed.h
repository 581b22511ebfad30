// SPDX-License-Identifier: Apache-2.0
//
// File: speed.h
//
// Two OpenMP runtimes in one process each start threads of their own: a trainer
// then runs at half its speed, or hangs.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_SPEED_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_SPEED_H_

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/device/device.h"

namespace frostline::trainer {

// Finds their paths in `maps`, the text of /proc/PID/maps.
std::vector<std::string> OpenMpRuntimes(std::string_view maps);

std::vector<std::string> OpenMpRuntimes();  // of this process

// Returns operations by second in 1e9: the best of the square products that fit
// into `time`, after one that does not count. Throws what LibTorch throws.
double MeasureGflops(const Device& device, Precision precision,
                     std::chrono::milliseconds time);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_SPEED_H_
