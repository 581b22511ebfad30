// SPDX-License-Identifier: Apache-2.0
//
// File: yaml.h
//
// cli/study_file/yaml_tree.h reads study files into this tree with yaml-cpp;
// yaml_subset.h reads the registries of a GPU node, where no such library is
// (docs/adr/0014-formats.md).
#ifndef FROSTLINE_BASE_PLAIN_YAML_H_
#define FROSTLINE_BASE_PLAIN_YAML_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace frostline {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;

// It counts from 1.
struct YamlMark {
  int line = 1;
  int column = 1;
};

struct YamlNode;
// It is immutable once parsed; an anchor and its aliases share one node.
using YamlPtr = std::shared_ptr<const YamlNode>;

struct YamlEntry {
  std::string key;
  YamlMark key_mark;
  YamlPtr value;
};

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  YamlMark mark;
  std::string text;     // of a scalar
  bool quoted = false;  // or a block: never a number
  std::vector<YamlPtr> items;
  std::vector<YamlEntry> entries;  // in the file's order
  std::size_t weight = 1;          // nodes below and with it, aliases expanded
  int height = 1;                  // levels below and with it

  // Answers null when this is no map or has no such key.
  const YamlEntry* Find(std::string_view key) const {
    for (const YamlEntry& entry : entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_H_
