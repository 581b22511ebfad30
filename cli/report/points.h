// SPDX-License-Identifier: Apache-2.0
//
// File: points.h
//
// Whether trials tried the same point: all parameters have the same values.
#ifndef FROSTLINE_CLI_REPORT_POINTS_H_
#define FROSTLINE_CLI_REPORT_POINTS_H_

#include <string>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// Of equal points equal, and of no others. What is enqueued has no strategy.
std::string PointKeyOf(const v1::Trial& trial);
std::string PointKeyOf(const v1::EnqueuedTrial& enqueued);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_POINTS_H_
