// SPDX-License-Identifier: Apache-2.0
//
// File: text_lines.h
#ifndef FROSTLINE_BASE_PLAIN_TEXT_LINES_H_
#define FROSTLINE_BASE_PLAIN_TEXT_LINES_H_

#include <cstddef>
#include <string_view>

namespace frostline {

// Calls `take` with each line, without its end, until it returns false.
template <typename Take>
void ForEachLine(std::string_view bytes, Take take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (!take(bytes.substr(0, end)) || end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_TEXT_LINES_H_
