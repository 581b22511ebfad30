// SPDX-License-Identifier: Apache-2.0
//
// File: auto_precision.h
//
// `training.precision: auto` is bf16 on one worker and fp32 on another, and
// trials of both cannot be compared. So the first trial that says what it is
// computed in decides for its study (StudySettings.auto_precision).
#ifndef FROSTLINE_SERVER_WIRE_AUTO_PRECISION_H_
#define FROSTLINE_SERVER_WIRE_AUTO_PRECISION_H_

#include <string>

#include "absl/status/status.h"
#include "server/wire/spec_check.h"

namespace frostline::server {

// Says what auto stands for in this study; "" while no trial has said it, and
// where the study names a precision.
std::string DecidedPrecision(const CheckedStudy& study);

// Whether a trial in `precision` decides now.
bool DecidesPrecision(const CheckedStudy& study, const std::string& precision);

// Answers REQUEST_INVALID for settings that name an unknown one.
absl::Status CheckAutoPrecision(const v1::StudySettings& settings);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_AUTO_PRECISION_H_
