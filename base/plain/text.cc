// SPDX-License-Identifier: Apache-2.0
#include "base/plain/text.h"

#include <cstdint>
#include <cstring>

namespace frostline {
namespace {

unsigned char ByteAt(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// What a lead byte promises. The second byte's range excludes overlong forms,
// surrogates and what is above U+10FFFF.
struct Lead {
  std::size_t bytes;
  char32_t bits;
  unsigned char low;
  unsigned char high;
};

Lead LeadOf(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {2, byte & 0x1FU, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0xD, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, byte & 0xFU, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 4, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, byte & 7U, 0x80, 0xBF};
  return {1, 0, 1, 0};  // no second byte can follow
}

}  // namespace

CodePoint DecodeAt(std::string_view text, std::size_t at) {
  const unsigned char first = ByteAt(text, at);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = LeadOf(first);
  char32_t value = lead.bits;
  unsigned char low = lead.low;
  unsigned char high = lead.high;
  for (std::size_t i = 1; i < lead.bytes || i == 1; ++i) {
    if (at + i >= text.size()) return {kReplacement, i, false};
    const unsigned char next = ByteAt(text, at + i);
    if (next < low || next > high) return {kReplacement, i, false};
    value = value << 6 | (next & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {value, lead.bytes, true};
}

void AppendUtf8(char32_t c, std::string& out) {
  const auto put = [&out](char32_t byte) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

bool IsAscii(std::string_view text) {
  std::size_t i = 0;
  std::uint64_t seen = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + i, 8);
    seen |= eight;
  }
  for (; i < text.size(); ++i) seen |= ByteAt(text, i);
  return (seen & 0x8080808080808080U) == 0;
}

std::optional<std::size_t> FirstInvalidByte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    if (!point.valid) return i;
    i += point.bytes;
  }
  return std::nullopt;
}

bool IsValidUtf8(std::string_view text) {
  return !FirstInvalidByte(text).has_value();
}

std::string RepairUtf8(std::string_view text) {
  std::string repaired;
  repaired.reserve(text.size() + 8);
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    AppendUtf8(point.value, repaired);
    i += point.bytes;
  }
  return repaired;
}

std::size_t CountCodePoints(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += IsContinuation(byte) ? 0 : 1;
  return count;
}

}  // namespace frostline
