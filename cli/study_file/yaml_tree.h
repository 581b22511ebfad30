// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_tree.h
//
// YAML as a tree of nodes with their places. Hostile files are limited in size,
// in depth, and in the number of nodes after aliases are expanded (an alias
// bomb is refused before). A repeated key, a second document and tags are
// refused too.
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

// Parses YAML. Returns STUDY_FILE_SYNTAX or FIELD_TOO_LARGE, made by ErrorAt().
absl::StatusOr<YamlPtr> ParseYaml(const std::string& text,
                                  const std::string& file);

// Returns an error whose cause starts with "FILE:LINE:COLUMN: ".
absl::Status ErrorAt(ErrorId id, const std::string& file, const YamlMark& mark,
                     const std::string& cause, const std::string& fix,
                     const std::string& field = "");

// Describes what a person wrote: "a list", "a map", "nothing", "'2e-5'".
std::string Describe(const YamlNode& node);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_TREE_H_
