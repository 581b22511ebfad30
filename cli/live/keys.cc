// SPDX-License-Identifier: Apache-2.0
#include "cli/live/keys.h"

#include <cstddef>
#include <optional>

namespace frostline::cli {
namespace {

constexpr char kEscapeByte = '\x1b';

bool IsFinal(char byte) { return byte >= '@' && byte <= '~'; }

// Takes "ESC [ … final" or "ESC O final" at `*at`; a lone ESC is the key.
std::optional<Key> TakeEscape(const std::string& bytes, std::size_t* at) {
  std::size_t end = *at + 1;
  const bool is_sequence =
      end < bytes.size() && (bytes[end] == '[' || bytes[end] == 'O');
  if (!is_sequence) {
    ++*at;
    return Key{KeyKind::kEscape};
  }
  ++end;
  while (end < bytes.size() && !IsFinal(bytes[end])) ++end;
  const char final = end < bytes.size() ? bytes[end] : '\0';
  *at = end + 1;
  if (final == 'A') return Key{KeyKind::kUp};
  if (final == 'B') return Key{KeyKind::kDown};
  if (final == 'C') return Key{KeyKind::kEnter};
  if (final == 'D') return Key{KeyKind::kEscape};
  return std::nullopt;
}

std::size_t BytesOfChar(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte >= 0xF0) return 4;
  if (byte >= 0xE0) return 3;
  return byte >= 0xC0 ? 2 : 1;
}

std::optional<Key> TakeChar(const std::string& bytes, std::size_t* at) {
  const char first = bytes[*at];
  const std::string text = bytes.substr(*at, BytesOfChar(first));
  *at += text.size();
  if (first == '\r' || first == '\n') return Key{KeyKind::kEnter};
  if (first == '\b' || first == '\x7f') return Key{KeyKind::kErase};
  if (first == '\x03' || first == '\x04') return Key{KeyKind::kEnd};
  if (static_cast<unsigned char>(first) < ' ') return std::nullopt;
  return Key{KeyKind::kText, text};
}

}  // namespace

std::vector<Key> KeysOf(const std::string& bytes) {
  std::vector<Key> keys;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto key = bytes[at] == kEscapeByte ? TakeEscape(bytes, &at)
                                              : TakeChar(bytes, &at);
    if (key.has_value()) keys.push_back(*key);
  }
  return keys;
}

}  // namespace frostline::cli
