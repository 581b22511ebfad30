// SPDX-License-Identifier: Apache-2.0
//
// File: objective_sugar.h
#ifndef FROSTLINE_CLI_STUDY_FILE_OBJECTIVE_SUGAR_H_
#define FROSTLINE_CLI_STUDY_FILE_OBJECTIVE_SUGAR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

std::vector<std::string> ObjectiveKeys();
bool IsObjectiveKey(const std::string& key);

// Replaces the short forms by one `objectives`. It answers OBJECTIVE_INVALID
// when that is there besides, or the direction of an `objective` is not common
// knowledge.
absl::StatusOr<std::vector<YamlEntry>> LongObjectives(
    std::vector<YamlEntry> entries, const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_OBJECTIVE_SUGAR_H_
