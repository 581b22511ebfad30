// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_scalar.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace frostline::cli {
namespace {

constexpr char kNumberChars[] = "0123456789+-.eE";

bool LooksDecimal(const std::string& text) {
  return !text.empty() &&
         text.find_first_not_of(kNumberChars) == std::string::npos;
}

// Whether a digit other than 0 stands before the exponent.
bool HasNonZeroDigit(const std::string& text) {
  const std::string digits = text.substr(0, text.find_first_of("eE"));
  return digits.find_first_of("123456789") != std::string::npos;
}

// "DIRECTION_" for the enum Direction; "" when its values carry no prefix.
std::string PrefixOf(const google::protobuf::EnumDescriptor& type) {
  constexpr char kUnspecified[] = "UNSPECIFIED";
  const std::string& zero = type.FindValueByNumber(0)->name();
  const std::string prefix =
      zero.substr(0, zero.size() - (sizeof(kUnspecified) - 1));
  for (int i = 0; i < type.value_count(); ++i) {
    if (!absl::StartsWith(type.value(i)->name(), prefix)) return "";
  }
  return prefix;
}

google::protobuf::Value TextValue(const std::string& text) {
  google::protobuf::Value value;
  value.set_string_value(text);
  return value;
}

}  // namespace

std::optional<double> ReadDouble(const std::string& text) {
  double value = 0.0;
  if (!LooksDecimal(text) || !absl::SimpleAtod(text, &value)) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  if (value == 0.0 && HasNonZeroDigit(text)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> ReadInt(const std::string& text) {
  std::int64_t value = 0;
  if (!LooksDecimal(text) || !absl::SimpleAtoi(text, &value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> ReadUint(const std::string& text) {
  std::uint64_t value = 0;
  if (!LooksDecimal(text) || text[0] == '-' ||
      !absl::SimpleAtoi(text, &value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> ReadBool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<google::protobuf::Duration> ReadDuration(
    const std::string& text) {
  absl::Duration parsed;
  const std::optional<double> seconds = ReadDouble(text);
  if (seconds.has_value()) {
    parsed = absl::Seconds(*seconds);
  } else if (!absl::ParseDuration(text, &parsed)) {
    return std::nullopt;
  }
  if (absl::AbsDuration(parsed) == absl::InfiniteDuration()) {
    return std::nullopt;
  }
  google::protobuf::Duration duration;
  duration.set_seconds(absl::IDivDuration(parsed, absl::Seconds(1), &parsed));
  duration.set_nanos(
      static_cast<std::int32_t>(absl::ToInt64Nanoseconds(parsed)));
  return duration;
}

std::string ShortName(const google::protobuf::EnumValueDescriptor& value) {
  return absl::AsciiStrToLower(
      value.name().substr(PrefixOf(*value.type()).size()));
}

const google::protobuf::EnumValueDescriptor* ReadEnum(
    const std::string& text, const google::protobuf::EnumDescriptor& type) {
  const std::string wanted = absl::AsciiStrToLower(text);
  for (int i = 0; i < type.value_count(); ++i) {
    const google::protobuf::EnumValueDescriptor* const value = type.value(i);
    if (value->number() == 0) continue;
    if (ShortName(*value) == wanted ||
        absl::AsciiStrToLower(value->name()) == wanted) {
      return value;
    }
  }
  return nullptr;
}

google::protobuf::Value ReadAny(const YamlNode& node) {
  google::protobuf::Value value;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      value.set_null_value(google::protobuf::NULL_VALUE);
      return value;
    case YamlNode::Kind::kList:
      value.mutable_list_value();
      for (const YamlPtr& item : node.items) {
        *value.mutable_list_value()->add_values() = ReadAny(*item);
      }
      return value;
    case YamlNode::Kind::kMap:
      value.mutable_struct_value();
      for (const YamlEntry& entry : node.entries) {
        (*value.mutable_struct_value()->mutable_fields())[entry.key] =
            ReadAny(*entry.value);
      }
      return value;
    case YamlNode::Kind::kScalar:
      break;
  }
  if (node.quoted) return TextValue(node.text);
  if (const auto flag = ReadBool(node.text)) {
    value.set_bool_value(*flag);
  } else if (const auto number = ReadDouble(node.text)) {
    value.set_number_value(*number);
  } else {
    return TextValue(node.text);
  }
  return value;
}

}  // namespace frostline::cli
