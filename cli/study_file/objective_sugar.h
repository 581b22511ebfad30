// SPDX-License-Identifier: Apache-2.0
//
// File: objective_sugar.h
//
// The short forms `objective`, `maximize` and `minimize` of a study file.
#ifndef FROSTLINE_CLI_STUDY_FILE_OBJECTIVE_SUGAR_H_
#define FROSTLINE_CLI_STUDY_FILE_OBJECTIVE_SUGAR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

std::vector<std::string> ObjectiveKeys();
bool IsObjectiveKey(const std::string& key);

// `entries` with the short forms replaced by one `objectives`, in their order.
// OBJECTIVE_INVALID when `objectives` is there besides, or when `objective`
// names a metric whose direction is not common knowledge.
absl::StatusOr<std::vector<YamlEntry>> LongObjectives(
    std::vector<YamlEntry> entries, const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_OBJECTIVE_SUGAR_H_
