// SPDX-License-Identifier: Apache-2.0
//
// The strings of JSON; the rest of the parser is in json_parser.cc.
#include "base/plain/json_parser.h"
#include "base/plain/text.h"

namespace frostline {
namespace {

bool IsHighSurrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

// Most strings hold no escape: then the text is a view of the input.
bool JsonParser::String(std::string_view& text) {
  const std::size_t begin = ++at_;
  while (at_ < bytes_.size()) {
    const auto byte = static_cast<unsigned char>(bytes_[at_]);
    if (byte == '"') {
      text = bytes_.substr(begin, at_ - begin);
      ++at_;
      return true;
    }
    if (byte == '\\') return Escaped(begin, text);
    if (byte < 0x20) return Syntax("a bare control character in a string");
    const CodePoint point = DecodeAt(bytes_, at_);
    if (!point.valid) return Syntax("a string that is not UTF-8");
    at_ += point.bytes;
  }
  return Syntax("a string without end");
}

// From the first escape on: at_ is at its backslash.
bool JsonParser::Escaped(std::size_t begin, std::string_view& text) {
  std::string& built =
      json_.unescaped_.emplace_back(bytes_.substr(begin, at_ - begin));
  while (at_ < bytes_.size()) {
    const auto byte = static_cast<unsigned char>(bytes_[at_]);
    if (byte == '"') {
      ++at_;
      text = built;
      return true;
    }
    if (byte == '\\') {
      if (!Escape(built)) return false;
      continue;
    }
    if (byte < 0x20) return Syntax("a bare control character in a string");
    const CodePoint point = DecodeAt(bytes_, at_);
    if (!point.valid) return Syntax("a string that is not UTF-8");
    built.append(bytes_.substr(at_, point.bytes));
    at_ += point.bytes;
  }
  return Syntax("a string without end");
}

bool JsonParser::Escape(std::string& text) {
  if (++at_ == bytes_.size()) return Syntax("a string without end");
  static constexpr std::string_view kLetters = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char letter = bytes_[at_++];
  if (letter == 'u') return UnicodeEscape(text);
  const std::size_t which = kLetters.find(letter);
  if (which == std::string_view::npos) return Syntax("an unknown escape");
  text.push_back(kMeanings[which]);
  return true;
}

bool JsonParser::UnicodeEscape(std::string& text) {
  char32_t unit = 0;
  if (!FourHex(unit)) return false;
  if (IsLowSurrogate(unit)) return Syntax("half of a surrogate pair");
  if (IsHighSurrogate(unit)) {
    char32_t low = 0;
    if (!Take('\\') || !Take('u')) return Syntax("half of a surrogate pair");
    if (!FourHex(low)) return false;
    if (!IsLowSurrogate(low)) return Syntax("half of a surrogate pair");
    unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
  }
  AppendUtf8(unit, text);
  return true;
}

bool JsonParser::FourHex(char32_t& unit) {
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = at_ < bytes_.size() ? bytes_[at_] : '\0';
    char32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<char32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<char32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<char32_t>(c - 'A' + 10);
    } else {
      return Syntax("\\u without four hexadecimal digits");
    }
    unit = unit << 4 | digit;
  }
  return true;
}

}  // namespace frostline
