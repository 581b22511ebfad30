// SPDX-License-Identifier: Apache-2.0
#include "base/plain/json_text.h"

#include <array>
#include <charconv>

namespace frostline {
namespace {

void AppendControl(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[code >> 4];
  out += kHex[code & 15];
}

// Depth is that of the reader's limit, so the recursion ends.
void AppendValue(const JsonValue& value, std::string& out) {
  const bool object = value.is(JsonKind::kObject);
  if (!object && !value.is(JsonKind::kArray)) {
    if (value.is(JsonKind::kNull)) out += "null";
    if (value.is(JsonKind::kBool)) out += value.truth ? "true" : "false";
    if (value.is(JsonKind::kNumber)) out += value.text;
    if (value.is(JsonKind::kString)) out += JsonString(value.text);
    return;
  }
  out += object ? '{' : '[';
  for (const JsonValue* at = value.first; at != nullptr; at = at->next) {
    if (at != value.first) out += ", ";
    if (object) out += JsonString(at->key) + ": ";
    AppendValue(*at, out);
  }
  out += object ? '}' : ']';
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      AppendControl(c, out);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string JsonNumber(double number) {
  std::array<char, 32> digits = {};
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return std::string(digits.data(), written.ptr);
}

std::string JsonText(const JsonValue& value) {
  std::string out;
  AppendValue(value, out);
  return out;
}

}  // namespace frostline
