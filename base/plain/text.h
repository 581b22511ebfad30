// SPDX-License-Identifier: Apache-2.0
//
// File: text.h
//
// By RFC 3629 there are no surrogates, no overlong forms, and nothing above
// U+10FFFF.
#ifndef FROSTLINE_BASE_PLAIN_TEXT_H_
#define FROSTLINE_BASE_PLAIN_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace frostline {

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

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_TEXT_H_
