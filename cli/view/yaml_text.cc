// SPDX-License-Identifier: Apache-2.0
#include "cli/view/yaml_text.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/time_util.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/term/csv.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Value;
using google::protobuf::util::TimeUtil;

constexpr const char* kOtherThanText[] = {"true", "false", "null", "yes", "no",
                                          "on",   "off",   "y",    "n"};

bool NeedsQuotes(const std::string& text) {
  if (text.empty() || text.back() == ' ') return true;
  const auto first = static_cast<unsigned char>(text.front());
  if (!absl::ascii_isalpha(first) && first != '/' && first != '_') return true;
  const std::string small = absl::AsciiStrToLower(text);
  return std::find(std::begin(kOtherThanText), std::end(kOtherThanText),
                   small) != std::end(kOtherThanText) ||
         !std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::StrContains("_-./ ,()+=", absl::string_view(&c, 1));
         });
}

// YAML 1.1 takes "1e-05" for text, "1.0e-05" for a number.
std::string NumberText(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = CsvNumber(value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && !absl::StrContains(text, '.')) {
    text.insert(exponent, ".0");
  }
  return text;
}

// Trial 0 has a number, and a module that is frozen the rate 0: they are left
// out of YAML no more than other values, as defaults are.
bool IsToldOfZero(const FieldDescriptor& field) {
  if (field.is_repeated() || field.has_presence()) return false;
  return field.name() == "number" ||
         (field.name() == "rate" &&
          field.containing_type()->name() == "ModuleRate");
}

class YamlWriter {
 public:
  void Put(const Message& message);
  std::string Text() const { return absl::StrCat(yaml_.c_str(), "\n"); }

 private:
  void PutText(const std::string& text) {
    if (NeedsQuotes(text)) yaml_ << YAML::DoubleQuoted;
    yaml_ << text;
  }
  void PutFields(const Message& message);
  void PutList(const Message& message, const FieldDescriptor& field);
  void PutMap(const Message& message, const FieldDescriptor& field);
  // Of a repeated field the element at `index`; -1: the field itself.
  void PutValue(const Message& message, const FieldDescriptor& field,
                int index);
  void PutEnum(const FieldDescriptor& field, int number);
  void PutAny(const Value& value);
  void PutStruct(const google::protobuf::Struct& fields);
  void PutValues(const google::protobuf::ListValue& list);

  YAML::Emitter yaml_;
};

void YamlWriter::Put(const Message& message) {
  if (const auto* time =
          dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    PutText(TimeUtil::ToString(*time));
  } else if (const auto* duration =
                 dynamic_cast<const google::protobuf::Duration*>(&message)) {
    PutText(TimeUtil::ToString(*duration));
  } else if (const auto* value = dynamic_cast<const Value*>(&message)) {
    PutAny(*value);
  } else if (const auto* fields =
                 dynamic_cast<const google::protobuf::Struct*>(&message)) {
    PutStruct(*fields);
  } else if (const auto* list =
                 dynamic_cast<const google::protobuf::ListValue*>(&message)) {
    PutValues(*list);
  } else {
    PutFields(message);
  }
}

void YamlWriter::PutFields(const Message& message) {
  const auto* const type = message.GetDescriptor();
  const auto* const reflection = message.GetReflection();
  yaml_ << YAML::BeginMap;
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    const bool is_set = field.is_repeated()
                            ? reflection->FieldSize(message, &field) > 0
                            : reflection->HasField(message, &field);
    if (!is_set && !IsToldOfZero(field)) continue;
    yaml_ << YAML::Key << field.name() << YAML::Value;
    if (field.is_map()) {
      PutMap(message, field);
    } else if (field.is_repeated()) {
      PutList(message, field);
    } else {
      PutValue(message, field, -1);
    }
  }
  yaml_ << YAML::EndMap;
}

void YamlWriter::PutList(const Message& message, const FieldDescriptor& field) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  yaml_ << YAML::BeginSeq;
  for (int i = 0; i < size; ++i) PutValue(message, field, i);
  yaml_ << YAML::EndSeq;
}

void YamlWriter::PutMap(const Message& message, const FieldDescriptor& field) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  const auto* const reflection = message.GetReflection();
  std::map<std::string, const Message*> pairs;
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    const Message& pair = reflection->GetRepeatedMessage(message, &field, i);
    // The contract has no maps but those of text.
    if (key.cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
    pairs[pair.GetReflection()->GetString(pair, &key)] = &pair;
  }
  yaml_ << YAML::BeginMap;
  for (const auto& [name, pair] : pairs) {
    yaml_ << YAML::Key;
    PutText(name);
    yaml_ << YAML::Value;
    PutValue(*pair, value, -1);
  }
  yaml_ << YAML::EndMap;
}

void YamlWriter::PutValue(const Message& message, const FieldDescriptor& field,
                          int index) {
  const auto& from = *message.GetReflection();
  const bool one = index < 0;
  const auto* const f = &field;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      Put(one ? from.GetMessage(message, f)
              : from.GetRepeatedMessage(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = one ? from.GetString(message, f)
                                   : from.GetRepeatedString(message, f, index);
      PutText(field.type() == FieldDescriptor::TYPE_BYTES
                  ? absl::Base64Escape(text)
                  : text);
      break;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      yaml_ << NumberText(one ? from.GetDouble(message, f)
                              : from.GetRepeatedDouble(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      yaml_ << NumberText(
          static_cast<double>(one ? from.GetFloat(message, f)
                                  : from.GetRepeatedFloat(message, f, index)));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      yaml_ << absl::StrCat(one ? from.GetInt64(message, f)
                                : from.GetRepeatedInt64(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      yaml_ << absl::StrCat(one ? from.GetUInt64(message, f)
                                : from.GetRepeatedUInt64(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      yaml_ << absl::StrCat(one ? from.GetInt32(message, f)
                                : from.GetRepeatedInt32(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      yaml_ << absl::StrCat(one ? from.GetUInt32(message, f)
                                : from.GetRepeatedUInt32(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      yaml_ << (one ? from.GetBool(message, f)
                    : from.GetRepeatedBool(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      PutEnum(field, one ? from.GetEnumValue(message, f)
                         : from.GetRepeatedEnumValue(message, f, index));
      break;
  }
}

void YamlWriter::PutEnum(const FieldDescriptor& field, int number) {
  const auto* const value = field.enum_type()->FindValueByNumber(number);
  yaml_ << (value == nullptr ? absl::StrCat(number) : value->name());
}

void YamlWriter::PutAny(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      yaml_ << NumberText(value.number_value());
      break;
    case Value::kStringValue:
      PutText(value.string_value());
      break;
    case Value::kBoolValue:
      yaml_ << value.bool_value();
      break;
    case Value::kStructValue:
      PutStruct(value.struct_value());
      break;
    case Value::kListValue:
      PutValues(value.list_value());
      break;
    default:
      yaml_ << YAML::Null;
  }
}

void YamlWriter::PutStruct(const google::protobuf::Struct& fields) {
  const std::map<std::string, Value> sorted(fields.fields().begin(),
                                            fields.fields().end());
  yaml_ << YAML::BeginMap;
  for (const auto& [name, value] : sorted) {
    yaml_ << YAML::Key;
    PutText(name);
    yaml_ << YAML::Value;
    PutAny(value);
  }
  yaml_ << YAML::EndMap;
}

void YamlWriter::PutValues(const google::protobuf::ListValue& list) {
  yaml_ << YAML::BeginSeq;
  for (const Value& value : list.values()) PutAny(value);
  yaml_ << YAML::EndSeq;
}

}  // namespace

std::string ToYaml(const Message& message) {
  YamlWriter writer;
  writer.Put(message);
  return writer.Text();
}

}  // namespace frostline::cli
