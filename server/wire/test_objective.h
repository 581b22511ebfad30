// SPDX-License-Identifier: Apache-2.0
//
// File: test_objective.h
//
// A study that chooses its trials by the test split has no test split left, so
// it must ask for that, and its reports say so.
#ifndef FROSTLINE_SERVER_WIRE_TEST_OBJECTIVE_H_
#define FROSTLINE_SERVER_WIRE_TEST_OBJECTIVE_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::server {

// Of a new study: OBJECTIVE_INVALID for an objective or a constraint on the
// test split that allow_test_objective does not allow.
absl::Status CheckTestObjective(const v1::StudySpec& spec);

// Says what to think of the study's results, allowed or not; nothing where the
// test split is left alone.
std::optional<std::string> TestObjectiveWarning(const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_TEST_OBJECTIVE_H_
