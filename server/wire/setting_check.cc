// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/plain/text.h"
#include "server/wire/settings.h"

namespace frostline::server {
namespace {

using google::protobuf::Value;

bool HasWord(const SettingRow& row, const Value& value) {
  const std::vector<std::string_view> words = WordsOf(row);
  return value.has_string_value() &&
         std::ranges::find(words, value.string_value()) != words.end();
}

// NaN is in no range.
bool InRange(const SettingRow& row, const Value& value) {
  return value.has_number_value() && value.number_value() >= row.least &&
         value.number_value() <= row.most;
}

bool IsWhole(const Value& value) {
  return value.has_number_value() && std::isfinite(value.number_value()) &&
         std::trunc(value.number_value()) == value.number_value();
}

bool IsWeight(const Value& value) {
  return value.has_number_value() && std::isfinite(value.number_value()) &&
         value.number_value() > 0.0;
}

template <typename Test>
bool IsListOf(const Value& value, const Test& fits) {
  return value.has_list_value() &&
         std::ranges::all_of(value.list_value().values(), fits);
}

bool Fits(const SettingRow& row, const Value& value) {
  switch (row.kind) {
    case SettingKind::kWord:
      return HasWord(row, value);
    case SettingKind::kWeights:
      return HasWord(row, value) || IsListOf(value, IsWeight);
    case SettingKind::kText:
      return value.has_string_value();
    case SettingKind::kTexts:
      return IsListOf(value,
                      [](const Value& v) { return v.has_string_value(); });
    case SettingKind::kSwitch:
      return value.has_bool_value();
    case SettingKind::kBits:
      return IsWhole(value) && value.number_value() >= 0.0;
    case SettingKind::kWhole:
      return IsWhole(value) && InRange(row, value);
    case SettingKind::kNumber:
      return InRange(row, value);
  }
  return false;
}

std::string Said(const Value& value) {
  switch (value.kind_case()) {
    case Value::kStringValue:
      return Shown(value.string_value());
    case Value::kNumberValue:
      return absl::StrCat(value.number_value());
    case Value::kBoolValue:
      return value.bool_value() ? "true" : "false";
    case Value::kListValue:
      return "a list";
    default:
      return "a map";
  }
}

std::string FixOf(const SettingRow& row, const Value& value) {
  if (row.words.empty()) return absl::StrCat("give ", RangeOf(row));
  std::vector<std::string> words;
  for (const std::string_view word : WordsOf(row)) words.emplace_back(word);
  const std::string near = Nearest(value.string_value(), words);
  return absl::StrCat(near.empty() ? "" : "did you mean '" + near + "'? ",
                      "write one of ", Listed(WordsOf(row)),
                      row.kind == SettingKind::kWeights
                          ? ", or a list of numbers above 0"
                          : "");
}

bool IsGiven(const Value& value) {
  if (value.has_string_value()) return !value.string_value().empty();
  return value.kind_case() != Value::kNullValue &&
         value.kind_case() != Value::KIND_NOT_SET;
}

}  // namespace

absl::Status CheckSetting(const SettingRow& row, const Value& value,
                          const std::string& field) {
  if (!IsGiven(value) || Fits(row, value)) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(field, " is ", Said(value)), FixOf(row, value),
                   field);
}

absl::Status CheckWord(const SettingRow& row, const std::string& word,
                       const std::string& field) {
  Value value;
  value.set_string_value(word);
  return CheckSetting(row, value, field);
}

}  // namespace frostline::server
