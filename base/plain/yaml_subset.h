// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_subset.h
//
// A registry has blocks by indentation, lists of words, [a, b] and {a: b},
// quotes, comments. Every scalar is a text: no is "no". Anchors, tags, folded
// texts, several documents, tabs and repeated keys are faults that name the
// line.
#ifndef FROSTLINE_BASE_PLAIN_YAML_SUBSET_H_
#define FROSTLINE_BASE_PLAIN_YAML_SUBSET_H_

#include <string>
#include <string_view>

#include "base/plain/result.h"
#include "base/plain/yaml.h"

namespace frostline {

// Returns a map whose nodes know their lines and columns, which faults name
// ("FILE line 3 column 5: …"). Faults call the file `name`. More than
// kMaxYamlBytes is one.
Expected<YamlNode> ParseYamlSubset(std::string_view text,
                                   const std::string& name);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_SUBSET_H_
