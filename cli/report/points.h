// SPDX-License-Identifier: Apache-2.0
//
// File: points.h
//
// Whether trials tried the same point: all parameters have the same values.
#ifndef FROSTLINE_CLI_REPORT_POINTS_H_
#define FROSTLINE_CLI_REPORT_POINTS_H_

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

bool AreAtOnePoint(const v1::Trial& a, const v1::Trial& b);

// Whether the trial was, or is to be, of what is enqueued without a strategy.
bool IsAtPointOf(const v1::EnqueuedTrial& enqueued, const v1::Trial& trial);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_POINTS_H_
