// SPDX-License-Identifier: Apache-2.0
//
// File: hardware.h
#ifndef FROSTLINE_WORKER_AGENT_HARDWARE_H_
#define FROSTLINE_WORKER_AGENT_HARDWARE_H_

#include <string>
#include <vector>

#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

inline constexpr char kGpuFolder[] = "/proc/driver/nvidia/gpus";

// GPUs come in the order of their bus addresses.
v1::Hardware DetectHardware(const std::string& gpu_folder);

// Names each GPU that this process may use: those in `visible`
// (CUDA_VISIBLE_DEVICES, or null) up to the first that is none, else 0, 1, …
// for the GPUs of `hardware`.
std::vector<std::string> GpuSlots(const char* visible,
                                  const v1::Hardware& hardware);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_HARDWARE_H_
