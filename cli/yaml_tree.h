// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_tree.h
//
// A YAML (or JSON) document as a tree in which every node knows its line and
// column. Hostile files are bounded: by size, by depth, and by the number of
// nodes after aliases are expanded (an alias bomb is refused, not expanded).
// Refused besides: a key given twice, a second document, tags.
#ifndef FROSTLINE_CLI_YAML_TREE_H_
#define FROSTLINE_CLI_YAML_TREE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error.h"

namespace frostline {

inline constexpr std::size_t kMaxYamlBytes = 1 << 20;
inline constexpr std::size_t kMaxYamlNodes = 100'000;
inline constexpr int kMaxYamlDepth = 100;

// Counted from 1, as editors do.
struct YamlMark {
  int line = 1;
  int column = 1;
};

struct YamlNode;
// Immutable once parsed; an anchor and its aliases share one node.
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
  bool quoted = false;  // written with quotes or as a block: never a number
  std::vector<YamlPtr> items;
  std::vector<YamlEntry> entries;  // in the file's order
  std::size_t weight = 1;          // nodes below and with it, aliases expanded
  int height = 1;                  // levels below and with it

  const YamlEntry* Find(const std::string& key) const;
};

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

}  // namespace frostline

#endif  // FROSTLINE_CLI_YAML_TREE_H_
