// SPDX-License-Identifier: Apache-2.0
//
// File: apply.h
//
// The study that runs a plan. It has the settings of the searched study. Its
// trials are only the plan (or the rates of one named trial) and the baselines,
// each with the same seeds.
#ifndef FROSTLINE_CLI_COMMANDS_APPLY_H_
#define FROSTLINE_CLI_COMMANDS_APPLY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

inline constexpr char kAppliesLabel[] = "applies";  // the searched study

// What the user asks for in a study that runs a plan.
struct AppliedSpec {
  std::string id;
  bool exports = false;  // the best trial exports its model
  // A trial that is run instead of the plan; null means the plan. It also
  // replaces a rival with the same point and takes over that rival's
  // prediction.
  const v1::Trial* named = nullptr;
};

// Builds the request for such a study. `rivals` are those of the searched study
// (GetPlanRivals). Returns REQUEST_INVALID when a model is to be exported that
// transformers does not know.
absl::StatusOr<v1::CreateStudyRequest> ApplyRequest(
    const v1::Study& searched, const v1::GetPlanRivalsReply& rivals,
    const AppliedSpec& applied);

// Returns what such a study tries first: "the plan", "trial 14".
std::string WhatIsTried(const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_APPLY_H_
