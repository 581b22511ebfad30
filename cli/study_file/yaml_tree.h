// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_tree.h
//
// Reads a study file into the tree of base/plain/yaml.h, in which every node
// knows its line and column. Hostile files are bounded: by size, by depth, and
// by the number of nodes after aliases are expanded (an alias bomb is refused,
// not expanded). Refused besides: a key given twice, a second document, tags.
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

// STUDY_FILE_SYNTAX or FIELD_TOO_LARGE; the cause starts with
// "FILE:LINE:COLUMN: ".
absl::StatusOr<YamlPtr> ParseYaml(const std::string& text,
                                  const std::string& file);

// An error at a place of a file, in the same form.
absl::Status ErrorAt(ErrorId id, const std::string& file, const YamlMark& mark,
                     const std::string& cause, const std::string& fix,
                     const std::string& field = "");

// "a list", "a map", "nothing", "'2e-5'": what a person wrote.
std::string Describe(const YamlNode& node);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_YAML_TREE_H_
