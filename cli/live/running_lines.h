// SPDX-License-Identifier: Apache-2.0
//
// File: running_lines.h
#ifndef FROSTLINE_CLI_LIVE_RUNNING_LINES_H_
#define FROSTLINE_CLI_LIVE_RUNNING_LINES_H_

#include <string>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// "  trial 17  gpu03  training  epoch 1.2/3  step 120/400  left 12 s – 20 s",
// for each trial by its number; at most `most` lines, the last of which says
// how many there are beyond them.
std::vector<std::string> RunningLines(std::vector<v1::Trial> running,
                                      const std::vector<double>& durations,
                                      WallMicros now, int most);

// Appends the seconds of a trial that ran to its end, or to its pruning.
void AddDuration(const v1::Trial& trial, std::vector<double>* durations);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_RUNNING_LINES_H_
