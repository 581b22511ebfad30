// SPDX-License-Identifier: Apache-2.0
//
// File: loaded_libraries.h
//
// Which libraries a process has loaded. Two OpenMP runtimes in one process
// each start threads of their own: a trainer then runs at half its speed, or
// hangs.
#ifndef FROSTLINE_WORKER_TRAINER_DEVICE_LOADED_LIBRARIES_H_
#define FROSTLINE_WORKER_TRAINER_DEVICE_LOADED_LIBRARIES_H_

#include <string>
#include <string_view>
#include <vector>

namespace frostline::trainer {

// The OpenMP runtimes in `maps`, which is the text of /proc/PID/maps, by path
// and each once.
std::vector<std::string> OpenMpRuntimes(std::string_view maps);

// Of this process.
std::vector<std::string> OpenMpRuntimes();

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_DEVICE_LOADED_LIBRARIES_H_
