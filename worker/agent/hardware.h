// SPDX-License-Identifier: Apache-2.0
//
// File: hardware.h
//
// What this node is made of, read from /proc; nothing that is not there.
#ifndef FROSTLINE_WORKER_AGENT_HARDWARE_H_
#define FROSTLINE_WORKER_AGENT_HARDWARE_H_

#include <string>
#include <vector>

#include "frostline/v1/worker.pb.h"

namespace frostline::agent {

// Where the driver lists its GPUs, a folder for each.
inline constexpr char kGpuFolder[] = "/proc/driver/nvidia/gpus";

// GPUs in the order of their bus addresses.
v1::Hardware DetectHardware(const std::string& gpu_folder);

// One entry for each GPU that this process may use, as CUDA_VISIBLE_DEVICES
// would name it: the entries of `visible` (that variable) where a scheduler has
// set it, up to the first that is none, else 0, 1, … for the GPUs of
// `hardware`.
std::vector<std::string> GpuSlots(const char* visible,
                                  const v1::Hardware& hardware);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_HARDWARE_H_
