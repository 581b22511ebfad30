// SPDX-License-Identifier: Apache-2.0
//
// File: recipe_runs.h
//
// The runs of a stage as what a study file says: an enqueued trial for each run
// and seed, labelled with the run's name.
#ifndef FROSTLINE_CLI_RECIPE_RECIPE_RUNS_H_
#define FROSTLINE_CLI_RECIPE_RECIPE_RUNS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/recipe/recipe_stage.h"

namespace frostline::cli {

// Labels of a run's trials: its name, and where a picture has it.
inline constexpr char kRunLabel[] = "run";
inline constexpr char kRunAtLabel[] = "at";

struct ExpandedRuns {
  std::vector<StageRun> runs;
  std::vector<YamlPtr> enqueue;
};

// `runs` is a map as the file has it. A run without a strategy and values, one
// name twice and no seeds are mistakes.
absl::StatusOr<ExpandedRuns> ExpandRuns(const YamlPtr& runs,
                                        const std::string& file,
                                        const ValueOf& value_of);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_RECIPE_RECIPE_RUNS_H_
