// SPDX-License-Identifier: Apache-2.0
//
// File: text.h
//
// Text that others wrote: UTF-8, how it is quoted in an error, lines, numbers.
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

// UTF-8 by RFC 3629: no surrogates, no overlong forms, and nothing above
// U+10FFFF.

inline constexpr char32_t kReplacement = 0xFFFD;

// A decoded character. An ill-formed sequence has the value kReplacement and is
// not valid. Its `bytes` are those of its longest sensible start (at least
// one), as the Unicode standard recommends.
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

// Replaces every ill-formed sequence by U+FFFD.
std::string RepairUtf8(std::string_view text);

// REQUIRES: the text is well-formed.
std::size_t CountCodePoints(std::string_view text);

// Says whether the byte is 10xxxxxx, which never begins a code point.
inline bool IsContinuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Shortens a text so that a fault can quote it. It never cuts within a
// character, since faults are sent as JSON.
inline std::string Shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  if (text.size() <= kMost) return "'" + std::string(text) + "'";
  std::size_t size = kMost;
  while (size > 0 && IsContinuation(text[size])) --size;
  return "'" + std::string(text.substr(0, size)) + "…'";
}

// Calls `take` with each line, without its line end, until it returns false.
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

// Returns the number, unless the text has anything else or it is not finite.
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
