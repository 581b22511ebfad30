// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_subset.h
//
// The part of YAML that a registry needs: blocks by indentation, lists of
// words, [a, b] and {a: b}, quotes, comments. Every scalar is a text: no is
// "no". Anchors, tags, folded texts, several documents, tabs and keys that are
// there twice are faults that name the line.
#ifndef FROSTLINE_BASE_PLAIN_YAML_SUBSET_H_
#define FROSTLINE_BASE_PLAIN_YAML_SUBSET_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline {

struct YamlMember;

struct YamlNode {
  enum class Kind { kText, kList, kMap };
  Kind kind = Kind::kText;
  std::size_t line = 0;
  std::string text;
  std::vector<YamlNode> items;      // of a list
  std::vector<YamlMember> members;  // of a map

  // Null when this is no map or has no such key.
  const YamlNode* Find(std::string_view key) const;
};

struct YamlMember {
  std::string key;
  YamlNode value;
};

// A map. `name` is what faults call the file.
Expected<YamlNode> ParseYaml(std::string_view text, const std::string& name);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_SUBSET_H_
