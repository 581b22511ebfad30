// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_tree.h
//
// Hostile files are bounded by size, depth, and nodes after aliases are
// expanded (an alias bomb is refused first). A key given twice, a second
// document and tags are refused too.
#ifndef FROSTLINE_CLI_STUDY_FILE_YAML_TREE_H_
#define FROSTLINE_CLI_STUDY_FILE_YAML_TREE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "base/plain/yaml.h"

namespace frostline::cli {

inline constexpr std::size_t kMaxYamlNodes = 100'000;
inline constexpr int kMaxYamlDepth = 100;

// Answers STUDY_FILE_SYNTAX or FIELD_TOO_LARGE, as ErrorAt makes them.
absl::StatusOr<YamlPtr> ParseYaml(const std::string& text,
                                  const std::string& file);

// Starts the cause with "FILE:LINE:COLUMN: ".
absl::Status ErrorAt(ErrorId id, const std::string& file, const YamlMark& mark,
                     const std::string& cause, const std::string& fix,
                     const std::string& field = "");

// Says what a person wrote: "a list", "a map", "nothing", "'2e-5'".
std::string Describe(const YamlNode& node);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_TREE_H_
