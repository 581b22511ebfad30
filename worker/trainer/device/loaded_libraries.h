// SPDX-License-Identifier: Apache-2.0
//
// File: loaded_libraries.h
//
// Two OpenMP runtimes in one process each start threads of their own: a trainer
// then runs at half its speed, or hangs.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_LOADED_LIBRARIES_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_LOADED_LIBRARIES_H_

#include <string>
#include <string_view>
#include <vector>

namespace frostline::trainer {

// Finds their paths in `maps`, the text of /proc/PID/maps.
std::vector<std::string> OpenMpRuntimes(std::string_view maps);

std::vector<std::string> OpenMpRuntimes();  // of this process

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_LOADED_LIBRARIES_H_
