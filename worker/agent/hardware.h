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

namespace frostline {

v1::Hardware DetectHardware();

// One entry for each GPU that this process may use, as CUDA_VISIBLE_DEVICES
// would name it: the entries of `visible` (that variable) where a scheduler has
// set it, else 0, 1, … for the GPUs of `hardware`.
std::vector<std::string> GpuSlots(const char* visible,
                                  const v1::Hardware& hardware);

}  // namespace frostline

#endif  // FROSTLINE_WORKER_AGENT_HARDWARE_H_
