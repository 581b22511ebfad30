// SPDX-License-Identifier: Apache-2.0
//
// File: text.h
//
// Strangers' text: UTF-8, what is quoted of it in an error, lines, numbers.
#ifndef FROSTLINE_BASE_PLAIN_TEXT_H_
#define FROSTLINE_BASE_PLAIN_TEXT_H_

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace frostline {

// By RFC 3629 there are no surrogates, no overlong forms, and nothing above
// U+10FFFF.

inline constexpr char32_t kReplacement = 0xFFFD;

// An ill-formed sequence is kReplacement, not valid, with the bytes of its
// longest sensible start (at least one), as the Unicode standard recommends.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
  bool valid;
};

// REQUIRES: at < text.size().
CodePoint DecodeAt(std::string_view text, std::size_t at);

void AppendUtf8(char32_t c, std::string& out);

bool IsAscii(std::string_view text);
bool IsValidUtf8(std::string_view text);
std::optional<std::size_t> FirstInvalidByte(std::string_view text);

// Puts U+FFFD in the place of every ill-formed sequence.
std::string RepairUtf8(std::string_view text);

// REQUIRES: the text is well-formed.
std::size_t CountCodePoints(std::string_view text);

// The bytes 10xxxxxx never begin a code point.
inline bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Shortens a stranger's text for a fault to quote, never within a character, as
// faults travel in JSON.
inline std::string Shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  if (text.size() <= kMost) return "'" + std::string(text) + "'";
  std::size_t size = kMost;
  while (size > 0 && IsContinuation(text[size])) --size;
  return "'" + std::string(text.substr(0, size)) + "…'";
}

// Calls `take` with each line, without its end, until it returns false.
template <typename Take>
void ForEachLine(std::string_view bytes, Take take) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (!take(bytes.substr(0, end)) || end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
  }
}

// Numbers read the same under every locale.

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

#endif  // FROSTLINE_BASE_PLAIN_TEXT_H_
