// SPDX-License-Identifier: Apache-2.0
//
// File: number.h
//
// Numbers read the same under every locale.
#ifndef FROSTLINE_BASE_PLAIN_NUMBER_H_
#define FROSTLINE_BASE_PLAIN_NUMBER_H_

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

namespace frostline {

inline std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Answers nothing unless all of the text is a finite number.
inline std::optional<double> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0.0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto parsed = std::from_chars(begin, end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_NUMBER_H_
