// SPDX-License-Identifier: Apache-2.0
//
// File: yaml.h
//
// YAML as a tree. cli/study_file/yaml_to_proto.h reads study files into it with
// yaml-cpp. This file itself reads the registries of a GPU node, where that
// library is missing (docs/adr/0014-formats.md).
#ifndef FROSTLINE_BASE_PLAIN_YAML_H_
#define FROSTLINE_BASE_PLAIN_YAML_H_

#include <cstddef>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/plain/result.h"

namespace frostline {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{1} << 20;

// A place in the text, counted from 1.
struct YamlMark {
  int line = 1;
  int column = 1;
};

struct YamlNode;
// A node, immutable once parsed; an anchor and its aliases share one.
using YamlPtr = std::shared_ptr<const YamlNode>;

// A key of a map, and its value.
struct YamlEntry {
  std::string key;
  YamlMark key_mark;
  YamlPtr value;
};

// A node of the tree.
struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  YamlMark mark;
  std::string text;     // of a scalar
  bool quoted = false;  // in quotes or a block, so it is never a number
  std::vector<YamlPtr> items;
  std::vector<YamlEntry> entries;  // in the file's order
  std::size_t weight = 1;          // nodes with and below it, aliases expanded
  int height = 1;                  // levels with and below it

  // Returns null when this is no map or has no such key.
  const YamlEntry* Find(std::string_view key) const {
    for (const YamlEntry& entry : entries) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
};

// The parts of a line. Faults are those of ParseYamlSubset().

Fault YamlFault(const std::string& what, const std::string& fix);
Fault YamlNotClosed(char mark);

// Removes the comment and the blanks before it.
std::string_view WithoutComment(std::string_view line);

void SkipBlanks(std::string_view& rest);

// Takes 'it''s' or "a\"b" from the front of `rest`; the only escapes are \" and
// \\.
Expected<std::string> TakeYamlQuoted(std::string_view& rest);

// Takes a text without quotes. It must not be empty, nor mean something special
// in YAML.
Expected<std::string> YamlPlain(std::string_view text);

// Reads a registry and returns a map whose nodes know their lines and columns.
// It reads blocks by indentation, lists of words, [a, b] and {a: b}, quotes and
// comments. Every scalar is a text: no is "no". Anchors, tags, folded texts,
// several documents, tabs, repeated keys and more than kMaxYamlBytes are
// faults. A fault names the place: "FILE line 3 column 5: …", with `name` for
// FILE.
Expected<YamlNode> ParseYamlSubset(std::string_view text,
                                   const std::string& name);

// The next functions parse one line: keys, texts, [lists] and {maps}. A fault's
// cause lacks file and line, which ParseYamlSubset() adds.

// Takes "key:" and the blanks after it from the front of `rest`.
Expected<std::string> TakeKey(std::string_view& rest);

// A line of the file that begins at `begin`.
struct YamlLine {
  int number;
  const char* begin;

  // Returns the place of `rest`, which must be of this line. Columns count
  // bytes.
  YamlMark MarkOf(std::string_view rest) const {
    return {.line = number,
            .column = static_cast<int>(rest.data() - begin) + 1};
  }
};

// Reads all of `rest`, up to the end of `line`, as one value.
Expected<YamlNode> ParseValue(std::string_view rest, const YamlLine& line);

// A reader of a map's members. It keeps the fault of the first one that does
// not fit; the caller asks for it once, at the end.
//
//   YamlFields fields(node, "datasets.yaml", "imdb");
//   entry.path = fields.Demand("path");
//   if (fields.fault()) return *fields.fault();
class YamlFields {
 public:
  // `node` must outlive this object; `where` says whose block it is.
  YamlFields(const YamlNode& node, std::string file, std::string where);

  // Returns the text; empty, with a fault, when it is missing or no text.
  std::string Demand(std::string_view key);
  std::optional<std::string> Text(std::string_view key);
  std::optional<bool> Bool(std::string_view key);  // true or false
  std::vector<std::string> Words(std::string_view key);
  std::map<std::string, std::string> Pairs(std::string_view key);
  // Returns the map; null when it is missing or, with a fault, no map.
  const YamlNode* Map(std::string_view key);

  void KnowOnly(std::initializer_list<std::string_view> keys);
  void Fail(const YamlMark& mark, const std::string& what,
            const std::string& fix);

  const YamlNode& node() const { return node_; }
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const YamlNode* Find(std::string_view key, YamlNode::Kind kind,
                       const std::string& form);

  const YamlNode& node_;
  std::string file_;
  std::string where_;
  std::optional<Fault> fault_;
};

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_H_
