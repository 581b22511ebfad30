// SPDX-License-Identifier: Apache-2.0
#include "base/plain/json_parser.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "base/plain/text.h"

namespace frostline {

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
  if (depth > kMaxJsonDepth) {
    return Fail(FaultKind::kTooLarge, "nested more than 32 deep");
  }
  if (json_.values_.size() >= max_values_) {
    return Fail(FaultKind::kTooLarge, "too many values");
  }
  if (at_ == bytes_.size()) return Syntax("a value is missing");
  JsonValue& value = json_.values_.emplace_back();
  made = &value;
  value.key = key;
  switch (bytes_[at_]) {
    case '{':
      value.kind = JsonKind::kObject;
      return Members(depth, value, '}') && UniqueKeys(value);
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
  if (numbers_ == JsonNumbers::kFinite) return false;
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
    if (numbers_ == JsonNumbers::kFinite) {
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

}  // namespace frostline
