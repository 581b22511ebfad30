// SPDX-License-Identifier: Apache-2.0
//
// File: apply.h
//
// The study that tries a plan: the searched study's own settings, and for
// trials nothing but the plan, or a named trial's rates, and their baselines,
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

inline constexpr char kAppliesLabel[] = "applies";  // to the searched study

struct AppliedSpec {
  std::string id;
  bool exports = false;  // the best trial leaves its model
  // Takes the plan's place, and that of a rival at its point, of which it has
  // the prediction; null: the plan.
  const v1::Trial* named = nullptr;
};

// `rivals` are the searched study's (GetPlanRivals). Answers REQUEST_INVALID
// where a model is to be exported that transformers does not know.
absl::StatusOr<v1::CreateStudyRequest> ApplyRequest(
    const v1::Study& searched, const v1::GetPlanRivalsReply& rivals,
    const AppliedSpec& applied);

// What such a study tries in the first place: "the plan", "trial 14".
std::string WhatIsTried(const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_APPLY_H_
