// SPDX-License-Identifier: Apache-2.0
#include "cli/term/utf8.h"

#include <algorithm>
#include <cstddef>

#include "base/plain/text.h"

namespace frostline::cli {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The wide blocks on which terminals agree. A rarer character may be wrong by a
// column.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},
    {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
constexpr Range kZero[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},  {0x064B, 0x065F},
    {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200F},  {0x20D0, 0x20FF},
    {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};

template <std::size_t N>
bool IsIn(const Range (&ranges)[N], char32_t code) {
  for (const Range& range : ranges) {
    if (code >= range.first && code <= range.last) return true;
  }
  return false;
}

// Returns the character at the start of `text`; an invalid byte counts as one
// character.
CodePoint FirstChar(std::string_view text) {
  const CodePoint first = DecodeAt(text, 0);
  return first.valid ? first : CodePoint{kReplacement, 1, false};
}

}  // namespace

int CharWidth(char32_t code) {
  if (IsIn(kZero, code)) return 0;
  return IsIn(kWide, code) ? 2 : 1;
}

int DisplayWidth(std::string_view text) {
  // Most cells of a long table are plain letters and digits.
  const auto plain = std::find_if(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x80;
  });
  int width = static_cast<int>(plain - text.begin());
  text.remove_prefix(static_cast<std::size_t>(width));
  while (!text.empty()) {
    const CodePoint next = FirstChar(text);
    width += CharWidth(next.value);
    text.remove_prefix(next.bytes);
  }
  return width;
}

std::string FitToWidth(const std::string& text, int width) {
  if (width < 1 || DisplayWidth(text) <= width) return text;
  std::string_view rest = text;
  int used = 1;  // the ellipsis
  std::size_t keep = 0;
  while (!rest.empty()) {
    const CodePoint next = FirstChar(rest);
    used += CharWidth(next.value);
    if (used > width) break;
    keep += next.bytes;
    rest.remove_prefix(next.bytes);
  }
  return text.substr(0, keep) + "…";
}

std::string WrapText(const std::string& text, int width) {
  if (width < 1) return text + "\n";
  std::string wrapped;
  int used = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    const int columns = DisplayWidth(word);
    const bool fits = used == 0 || used + 1 + columns <= width;
    if (!wrapped.empty()) wrapped += fits ? ' ' : '\n';
    used = fits && !wrapped.empty() ? used + 1 + columns : columns;
    wrapped += word;
    at = end + 1;
  }
  return wrapped + "\n";
}

}  // namespace frostline::cli
