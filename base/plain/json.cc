// SPDX-License-Identifier: Apache-2.0
#include "base/plain/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/plain/text.h"

namespace frostline {

const JsonValue* JsonValue::Find(std::string_view name) const {
  if (!is(JsonKind::kObject)) return nullptr;
  for (const JsonValue* member = first; member != nullptr;
       member = member->next) {
    if (member->key == name) return member;
  }
  return nullptr;
}

std::optional<std::int32_t> JsonValue::Index() const {
  if (!is(JsonKind::kNumber) || !(number >= 0 && number < 2147483648.0)) {
    return std::nullopt;
  }
  const auto whole = static_cast<std::int32_t>(number);
  if (static_cast<double>(whole) != number) return std::nullopt;
  return whole;
}

Expected<Json> Json::Parse(std::string_view bytes, const JsonRules& rules) {
  Json json;
  JsonParser parser(bytes, rules, json);
  if (std::optional<Fault> fault = parser.Run()) return *std::move(fault);
  return json;
}

namespace {

void AppendControl(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kHex[code >> 4];
  out += kHex[code & 15];
}

// Appends a value. The reader limits the depth, so the recursion ends.
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

namespace {

// Returns what is between `open` and `close` as the layout has it.
std::string Laid(char open, const std::vector<std::string>& parts, char close,
                 JsonLayout layout) {
  const bool has_lines = layout == JsonLayout::kIndented && !parts.empty();
  const std::string_view between = has_lines                        ? ",\n "
                                   : layout == JsonLayout::kCompact ? ","
                                                                    : ", ";
  std::string text(1, open);
  if (has_lines) text += "\n ";
  bool is_first = true;
  for (const std::string& part : parts) {
    if (!is_first) text += between;
    text += part;
    is_first = false;
  }
  if (has_lines) text += '\n';
  return text + close;
}

}  // namespace

JsonObject& JsonObject::Put(std::string_view key, std::string_view json) {
  members_.emplace_back(JsonString(key), json);
  return *this;
}

JsonObject& JsonObject::PutText(std::string_view key, std::string_view text) {
  return Put(key, JsonString(text));
}

std::string JsonObject::Text(JsonLayout layout) const {
  const std::string_view colon = layout == JsonLayout::kCompact ? ":" : ": ";
  std::vector<std::string> parts;
  parts.reserve(members_.size());
  for (const auto& [key, value] : members_) {
    parts.push_back(key);
    parts.back().append(colon).append(value);
  }
  return Laid('{', parts, '}', layout);
}

std::string JsonList(const std::vector<std::string>& items, JsonLayout layout) {
  return Laid('[', items, ']', layout);
}

std::string JsonTexts(const std::vector<std::string>& texts,
                      JsonLayout layout) {
  std::vector<std::string> items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.push_back(JsonString(text));
  return JsonList(items, layout);
}

std::optional<Fault> JsonParser::Run() {
  JsonValue* root = nullptr;
  if (bytes_.size() > kMaxJsonBytes) {
    Fail(FaultKind::kTooLarge, "more than 32 MiB of JSON");
  } else if (Value(0, {}, root)) {
    SkipBlanks();
    if (at_ != bytes_.size()) Syntax("something after the value");
  }
  return fault_;
}

bool JsonParser::Value(std::size_t depth, std::string_view key,
                       JsonValue*& made) {
  SkipBlanks();
  if (depth > rules_.max_depth) {
    return Fail(
        FaultKind::kTooLarge,
        "nested more than " + std::to_string(rules_.max_depth) + " deep");
  }
  if (json_.values_.size() >= rules_.max_values) {
    return Fail(FaultKind::kTooLarge, "too many values");
  }
  if (at_ == bytes_.size()) return Syntax("a value is missing");
  JsonValue& value = json_.values_.emplace_back();
  made = &value;
  value.key = key;
  switch (bytes_[at_]) {
    case '{':
      value.kind = JsonKind::kObject;
      return Members(depth, value, '}') &&
             (rules_.repeats_keys || UniqueKeys(value));
    case '[':
      value.kind = JsonKind::kArray;
      return Members(depth, value, ']');
    case '"':
      value.kind = JsonKind::kString;
      return String(value.text);
    case 't':
    case 'f':
      value.kind = JsonKind::kBool;
      value.truth = bytes_[at_] == 't';
      return Literal(value.truth ? "true" : "false");
    case 'n':
      return Literal("null");
    default:
      value.kind = JsonKind::kNumber;
      return Number(value);
  }
}

bool JsonParser::Members(std::size_t depth, JsonValue& parent, char close) {
  ++at_;  // the opening bracket
  SkipBlanks();
  if (Take(close)) return true;
  JsonValue* last = nullptr;
  do {
    std::string_view key;
    if (parent.is(JsonKind::kObject)) {
      SkipBlanks();
      if (at_ == bytes_.size() || bytes_[at_] != '"') {
        return Syntax("a key is missing");
      }
      if (!String(key)) return false;
      SkipBlanks();
      if (!Take(':')) return Syntax("a key without ':'");
    }
    JsonValue* member = nullptr;
    if (!Value(depth + 1, key, member)) return false;
    (last == nullptr ? parent.first : last->next) = member;
    last = member;
    ++parent.count;
    SkipBlanks();
  } while (Take(','));
  return Take(close) || Syntax("a bracket is not closed");
}

bool JsonParser::UniqueKeys(const JsonValue& object) {
  keys_.clear();
  for (const JsonValue* m = object.first; m != nullptr; m = m->next) {
    keys_.push_back(m->key);
  }
  std::sort(keys_.begin(), keys_.end());
  const auto twice = std::adjacent_find(keys_.begin(), keys_.end());
  if (twice == keys_.end()) return true;
  return Fail(FaultKind::kInconsistent, "the key \"" +
                                            std::string(twice->substr(0, 80)) +
                                            "\" stands twice in one object");
}

bool JsonParser::Literal(std::string_view word) {
  if (bytes_.substr(at_, word.size()) != word) return Syntax("an unknown word");
  at_ += word.size();
  return true;
}

bool JsonParser::NoJsonNumber(JsonValue& value) {
  using Limits = std::numeric_limits<double>;
  constexpr std::pair<std::string_view, double> kWords[] = {
      {"NaN", Limits::quiet_NaN()},
      {"Infinity", Limits::infinity()},
      {"-Infinity", -Limits::infinity()}};
  if (rules_.numbers == JsonNumbers::kFinite) return false;
  for (const auto& [word, number] : kWords) {
    if (bytes_.substr(at_, word.size()) != word) continue;
    value.text = word;
    value.number = number;
    at_ += word.size();
    return true;
  }
  return false;
}

bool JsonParser::Number(JsonValue& value) {
  if (NoJsonNumber(value)) return true;
  const auto digit = [this](std::size_t i) {
    return i < bytes_.size() && bytes_[i] >= '0' && bytes_[i] <= '9';
  };
  const char* begin = bytes_.data() + at_;
  const std::size_t lead = at_ + (bytes_[at_] == '-' ? 1 : 0);
  // from_chars also takes "01", ".5", "inf" and "nan"; JSON does not.
  if (!digit(lead) || (bytes_[lead] == '0' && digit(lead + 1))) {
    return Syntax("neither a value nor a number");
  }
  const auto [end, error] =
      std::from_chars(begin, bytes_.data() + bytes_.size(), value.number);
  const auto length = static_cast<std::size_t>(end - begin);
  if (error != std::errc() || !std::isfinite(value.number)) {
    if (rules_.numbers == JsonNumbers::kFinite) {
      return Syntax("a number that cannot be represented");
    }
    value.number = std::strtod(std::string(begin, length).c_str(), nullptr);
  }
  const std::size_t point = bytes_.substr(at_, length).find('.');
  if (point != std::string_view::npos && !digit(at_ + point + 1)) {
    return Syntax("a point without digits after it");
  }
  value.text = bytes_.substr(at_, length);
  at_ += length;
  return true;
}

void JsonParser::SkipBlanks() {
  while (at_ < bytes_.size() && (bytes_[at_] == ' ' || bytes_[at_] == '\n' ||
                                 bytes_[at_] == '\t' || bytes_[at_] == '\r')) {
    ++at_;
  }
}

bool JsonParser::Take(char c) {
  if (at_ == bytes_.size() || bytes_[at_] != c) return false;
  ++at_;
  return true;
}

bool JsonParser::Fail(FaultKind kind, const std::string& what) {
  fault_ = Fault{kind, what + " (byte " + std::to_string(at_) + ")",
                 "take the file that the tokenizer's library wrote"};
  return false;
}

// How the parser reads strings.

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

// Reads a string from its first escape on: at_ is at that backslash.
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
