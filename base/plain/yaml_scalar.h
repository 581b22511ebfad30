// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_scalar.h
//
// A line of YAML has keys, texts, [lists] and {maps}. A fault's cause lacks
// file and line, which ParseYamlSubset() adds.
#ifndef FROSTLINE_BASE_PLAIN_YAML_SCALAR_H_
#define FROSTLINE_BASE_PLAIN_YAML_SCALAR_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "base/plain/yaml_subset.h"

namespace frostline {

// Takes "key:" from the front of `rest`, and the blanks behind it.
Expected<std::string> TakeKey(std::string_view& rest);

// A line of the file, which begins at `begin`.
struct YamlLine {
  int number;
  const char* begin;

  // REQUIRES: `rest` is of this line. Bytes are counted.
  YamlMark MarkOf(std::string_view rest) const {
    return {.line = number,
            .column = static_cast<int>(rest.data() - begin) + 1};
  }
};

// Reads all of `rest`, the end of `line`, as one value.
Expected<YamlNode> ParseValue(std::string_view rest, const YamlLine& line);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_YAML_SCALAR_H_
