// SPDX-License-Identifier: Apache-2.0
//
// File: time_left.h
//
// How long a trial or a study still takes, as far as finished trials tell.
#ifndef FROSTLINE_CLI_LIVE_TIME_LEFT_H_
#define FROSTLINE_CLI_LIVE_TIME_LEFT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Seconds: the lower quartile, the median and the upper quartile.
struct TimeLeft {
  double shortest = 0.0;
  double likely = 0.0;
  double longest = 0.0;
};

// What its trainer said, less the time since; failing that, its steps at their
// present pace.
std::optional<double> ToldSecondsLeft(const v1::Trial& trial, WallMicros now);

// What is told, else the quartiles of what is left of those `durations` that
// are longer than the trial has run. Nothing is said before three durations.
std::optional<TimeLeft> TrialTimeLeft(const v1::Trial& trial,
                                      const std::vector<double>& durations,
                                      WallMicros now);

// Trials that the budget leaves, in turn on so many slots. Nothing is said
// without slots, nor before three durations.
std::optional<TimeLeft> StudyTimeLeft(const v1::Study& study,
                                      const std::vector<double>& durations,
                                      std::int64_t slots);

// "12 s", "5m10s – 7m00s", or "-".
std::string TimeLeftText(const std::optional<TimeLeft>& left);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_TIME_LEFT_H_
