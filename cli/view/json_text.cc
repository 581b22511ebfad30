// SPDX-License-Identifier: Apache-2.0
#include "cli/view/json_text.h"

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Timestamp;
using google::protobuf::Value;
using google::protobuf::util::TimeUtil;

// Returns whether a string needs no escapes in JSON. Protobuf escapes < and >
// too.
bool IsPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '<' &&
           c != '>';
  });
}

std::string Quoted(const std::string& text) {
  if (IsPlain(text)) return absl::StrCat("\"", text, "\"");
  Value value;
  value.set_string_value(text);
  return ProtobufJson(value, /*indented=*/false);
}

// Formats a number as protobuf does: with 15 digits if they read back the same,
// else with 17.
std::string NumberText(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  if (value == 0.0 && !std::signbit(value)) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.15g", value);
  if (std::strtod(text.data(), nullptr) != value) {
    std::snprintf(text.data(), text.size(), "%.17g", value);
  }
  return text.data();
}

bool IsValid(const Timestamp& time) {
  return time.seconds() >= TimeUtil::kTimestampMinSeconds &&
         time.seconds() <= TimeUtil::kTimestampMaxSeconds &&
         time.nanos() >= 0 && time.nanos() < 1'000'000'000;
}

bool IsValid(const google::protobuf::Duration& time) {
  return time.seconds() >= 0 &&
         time.seconds() <= TimeUtil::kDurationMaxSeconds && time.nanos() >= 0 &&
         time.nanos() < 1'000'000'000;
}

// Returns whether a field is written even if it is not set.
bool HasDefault(const FieldDescriptor& field) {
  return field.is_repeated() ||
         (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE &&
          field.containing_oneof() == nullptr);
}

class JsonWriter {
 public:
  explicit JsonWriter(bool indented) : indented_(indented) {}

  // False: the message has what this writer does not know.
  bool Put(const Message& message);
  std::string Take() { return std::move(text_); }

 private:
  void Open(char bracket);
  void Close(char bracket);
  // Before each field or element.
  void Next();
  void Key(const std::string& name);

  bool PutFields(const Message& message);
  bool PutField(const Message& message, const FieldDescriptor& field);
  bool PutList(const Message& message, const FieldDescriptor& field);
  bool PutMap(const Message& message, const FieldDescriptor& field);
  // Writes the element at `index` of a repeated field, or the field itself for
  // -1.
  bool PutValue(const Message& message, const FieldDescriptor& field,
                int index);
  bool PutEnum(const FieldDescriptor& field, int number);
  bool PutAny(const Value& value);
  bool PutStruct(const google::protobuf::Struct& fields);
  bool PutValues(const google::protobuf::ListValue& list);

  const bool indented_;
  std::size_t depth_ = 0;
  bool is_first_ = true;
  std::string text_;
};

void JsonWriter::Open(char bracket) {
  text_ += bracket;
  ++depth_;
  is_first_ = true;
}

void JsonWriter::Close(char bracket) {
  --depth_;
  if (indented_ && !is_first_) text_.append("\n").append(depth_, ' ');
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::Next() {
  if (!is_first_) text_ += ',';
  is_first_ = false;
  if (indented_) text_.append("\n").append(depth_, ' ');
}

void JsonWriter::Key(const std::string& name) {
  Next();
  text_ += Quoted(name);
  text_ += indented_ ? ": " : ":";
}

bool JsonWriter::Put(const Message& message) {
  const auto* const type = message.GetDescriptor();
  if (!absl::StartsWith(type->full_name(), "google.protobuf.")) {
    return PutFields(message);
  }
  if (const auto* time = dynamic_cast<const Timestamp*>(&message)) {
    if (!IsValid(*time)) return false;
    absl::StrAppend(&text_, "\"", TimeUtil::ToString(*time), "\"");
    return true;
  }
  if (const auto* time =
          dynamic_cast<const google::protobuf::Duration*>(&message)) {
    if (!IsValid(*time)) return false;
    absl::StrAppend(&text_, "\"", TimeUtil::ToString(*time), "\"");
    return true;
  }
  if (const auto* value = dynamic_cast<const Value*>(&message)) {
    return PutAny(*value);
  }
  if (const auto* fields =
          dynamic_cast<const google::protobuf::Struct*>(&message)) {
    return PutStruct(*fields);
  }
  const auto* list = dynamic_cast<const google::protobuf::ListValue*>(&message);
  return list != nullptr && PutValues(*list);
}

bool JsonWriter::PutFields(const Message& message) {
  const auto* const type = message.GetDescriptor();
  const auto* const reflection = message.GetReflection();
  Open('{');
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    if (!HasDefault(field) && !reflection->HasField(message, &field)) continue;
    Key(field.name());
    if (!PutField(message, field)) return false;
  }
  Close('}');
  return true;
}

bool JsonWriter::PutField(const Message& message,
                          const FieldDescriptor& field) {
  if (field.is_map()) return PutMap(message, field);
  if (field.is_repeated()) return PutList(message, field);
  return PutValue(message, field, -1);
}

bool JsonWriter::PutList(const Message& message, const FieldDescriptor& field) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  Open('[');
  for (int i = 0; i < size; ++i) {
    Next();
    if (!PutValue(message, field, i)) return false;
  }
  Close(']');
  return true;
}

bool JsonWriter::PutMap(const Message& message, const FieldDescriptor& field) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  if (key.cpp_type() != FieldDescriptor::CPPTYPE_STRING) return false;
  const auto* const reflection = message.GetReflection();
  std::vector<std::pair<std::string, const Message*>> pairs;
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    const Message& pair = reflection->GetRepeatedMessage(message, &field, i);
    pairs.emplace_back(pair.GetReflection()->GetString(pair, &key), &pair);
  }
  std::sort(pairs.begin(), pairs.end());
  Open('{');
  for (const auto& [name, pair] : pairs) {
    Key(name);
    if (!PutValue(*pair, value, -1)) return false;
  }
  Close('}');
  return true;
}

bool JsonWriter::PutValue(const Message& message, const FieldDescriptor& field,
                          int index) {
  const auto& from = *message.GetReflection();
  const bool one = index < 0;
  const auto* const f = &field;
  std::string scratch;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Put(one ? from.GetMessage(message, f)
                     : from.GetRepeatedMessage(message, f, index));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string& text =
          one ? from.GetStringReference(message, f, &scratch)
              : from.GetRepeatedStringReference(message, f, index, &scratch);
      text_ += field.type() == FieldDescriptor::TYPE_BYTES
                   ? absl::StrCat("\"", absl::Base64Escape(text), "\"")
                   : Quoted(text);
      return true;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      text_ += NumberText(one ? from.GetDouble(message, f)
                              : from.GetRepeatedDouble(message, f, index));
      return true;
    case FieldDescriptor::CPPTYPE_INT64:
      absl::StrAppend(&text_, "\"",
                      one ? from.GetInt64(message, f)
                          : from.GetRepeatedInt64(message, f, index),
                      "\"");
      return true;
    case FieldDescriptor::CPPTYPE_UINT64:
      absl::StrAppend(&text_, "\"",
                      one ? from.GetUInt64(message, f)
                          : from.GetRepeatedUInt64(message, f, index),
                      "\"");
      return true;
    case FieldDescriptor::CPPTYPE_INT32:
      absl::StrAppend(&text_, one ? from.GetInt32(message, f)
                                  : from.GetRepeatedInt32(message, f, index));
      return true;
    case FieldDescriptor::CPPTYPE_UINT32:
      absl::StrAppend(&text_, one ? from.GetUInt32(message, f)
                                  : from.GetRepeatedUInt32(message, f, index));
      return true;
    case FieldDescriptor::CPPTYPE_BOOL:
      text_ += (one ? from.GetBool(message, f)
                    : from.GetRepeatedBool(message, f, index))
                   ? "true"
                   : "false";
      return true;
    case FieldDescriptor::CPPTYPE_ENUM:
      return PutEnum(field, one ? from.GetEnumValue(message, f)
                                : from.GetRepeatedEnumValue(message, f, index));
    default:
      return false;
  }
}

bool JsonWriter::PutEnum(const FieldDescriptor& field, int number) {
  const auto* const value = field.enum_type()->FindValueByNumber(number);
  if (value == nullptr ||
      field.enum_type()->file()->package() == "google.protobuf") {
    return false;
  }
  absl::StrAppend(&text_, "\"", value->name(), "\"");
  return true;
}

bool JsonWriter::PutAny(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNullValue:
      text_ += "null";
      return true;
    case Value::kNumberValue:
      if (!std::isfinite(value.number_value())) return false;
      text_ += NumberText(value.number_value());
      return true;
    case Value::kStringValue:
      text_ += Quoted(value.string_value());
      return true;
    case Value::kBoolValue:
      text_ += value.bool_value() ? "true" : "false";
      return true;
    case Value::kStructValue:
      return PutStruct(value.struct_value());
    case Value::kListValue:
      return PutValues(value.list_value());
    case Value::KIND_NOT_SET:
      break;
  }
  return false;
}

bool JsonWriter::PutStruct(const google::protobuf::Struct& fields) {
  std::vector<std::pair<std::string, const Value*>> sorted;
  for (const auto& [name, value] : fields.fields()) {
    sorted.emplace_back(name, &value);
  }
  std::sort(sorted.begin(), sorted.end());
  Open('{');
  for (const auto& [name, value] : sorted) {
    Key(name);
    if (!PutAny(*value)) return false;
  }
  Close('}');
  return true;
}

bool JsonWriter::PutValues(const google::protobuf::ListValue& list) {
  Open('[');
  for (const Value& value : list.values()) {
    Next();
    if (!PutAny(value)) return false;
  }
  Close(']');
  return true;
}

}  // namespace

std::string ProtobufJson(const Message& message, bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json : "{\"error\": \"no JSON\"}\n";
}

std::string ToJson(const Message& message) {
  JsonWriter writer(/*indented=*/true);
  if (!writer.Put(message)) return ProtobufJson(message, true);
  return writer.Take() + "\n";
}

std::string ToJsonLine(const Message& message) {
  JsonWriter writer(/*indented=*/false);
  if (!writer.Put(message)) return ProtobufJson(message, false) + "\n";
  return writer.Take() + "\n";
}

}  // namespace frostline::cli
