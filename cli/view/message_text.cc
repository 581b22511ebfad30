// SPDX-License-Identifier: Apache-2.0
#include "cli/view/message_text.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/term/table.h"
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

namespace {

constexpr std::size_t kIndent = 2;
constexpr const char* kOtherThanText[] = {"true", "false", "null", "yes", "no",
                                          "on",   "off",   "y",    "n"};
constexpr std::size_t kLongestOther = 5;

bool IsPlainChar(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         std::string_view("_-./ ,()+=").find(c) != std::string_view::npos;
}

bool NeedsQuotes(const std::string& text) {
  if (text.empty() || text.back() == ' ') return true;
  const auto first = static_cast<unsigned char>(text.front());
  if (!absl::ascii_isalpha(first) && first != '/' && first != '_') return true;
  if (!std::all_of(text.begin(), text.end(), IsPlainChar)) return true;
  return text.size() <= kLongestOther &&
         std::any_of(std::begin(kOtherThanText), std::end(kOtherThanText),
                     [&text](const char* other) {
                       return absl::EqualsIgnoreCase(text, other);
                     });
}

// Returns the letter of a short escape, or 0 for none.
char EscapeOf(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\t':
      return 't';
    case '\r':
      return 'r';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    default:
      return 0;
  }
}

struct Escaped {
  std::string_view bytes;
  std::string_view text;
};

// UTF-8 characters that a YAML reader folds or drops: line ends outside of
// ASCII, and the byte order mark.
constexpr std::array<Escaped, 4> kEscaped = {{{"\xC2\x85", "\\x85"},
                                              {"\xE2\x80\xA8", "\\u2028"},
                                              {"\xE2\x80\xA9", "\\u2029"},
                                              {"\xEF\xBB\xBF", "\\ufeff"}}};

// Appends one character of several bytes and returns their number.
std::size_t PutWide(std::string_view rest, std::string& to) {
  for (const Escaped& one : kEscaped) {
    if (!rest.starts_with(one.bytes)) continue;
    to += one.text;
    return one.bytes.size();
  }
  // The other controls between U+0080 and U+009F, and the hard blank.
  if (rest.size() > 1 && rest[0] == '\xC2' &&
      static_cast<unsigned char>(rest[1]) <= 0xA0) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(rest[1]);
    to += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    return 2;
  }
  to += rest[0];
  return 1;
}

void PutQuoted(const std::string& text, std::string& to) {
  constexpr char kDigits[] = "0123456789abcdef";
  to += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x80) {
      i += PutWide(std::string_view(text).substr(i), to);
      continue;
    }
    const char escape = EscapeOf(c);
    if (escape != 0) {
      to += {'\\', escape};
    } else if (code < 0x20 || code == 0x7F) {
      to += {'\\', 'x', kDigits[code >> 4], kDigits[code & 15]};
    } else {
      to += c;
    }
    ++i;
  }
  to += '"';
}

}  // namespace

void BlockYaml::Begin() {
  const std::size_t indent =
      levels_.empty() ? 0 : levels_.back().indent + kIndent;
  levels_.push_back({.indent = indent, .opened = behind_});
}

void BlockYaml::End(const char* when_empty) {
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.is_empty) return;
  behind_ = level.opened;
  Plain(when_empty);
}

void BlockYaml::Key(const std::string& name) {
  Level& level = levels_.back();
  if (level.is_empty && level.opened == Behind::kDash) {
    text_ += ' ';  // the first key stands on the line of its dash
  } else {
    if (level.is_empty && level.opened == Behind::kKey) text_ += '\n';
    text_.append(level.indent, ' ');
  }
  level.is_empty = false;
  PutText(name);
  text_ += ':';
  behind_ = Behind::kKey;
}

void BlockYaml::Item() {
  Level& level = levels_.back();
  if (level.is_empty && level.opened != Behind::kNothing) text_ += '\n';
  level.is_empty = false;
  text_.append(level.indent, ' ');
  text_ += '-';
  behind_ = Behind::kDash;
}

void BlockYaml::Plain(std::string_view text) {
  if (behind_ != Behind::kNothing) text_ += ' ';
  text_.append(text).append("\n");
}

void BlockYaml::Text(const std::string& text) {
  if (behind_ != Behind::kNothing) text_ += ' ';
  PutText(text);
  text_ += '\n';
}

void BlockYaml::PutText(const std::string& text) {
  if (NeedsQuotes(text)) {
    PutQuoted(text, text_);
  } else {
    text_ += text;
  }
}

namespace {

// Formats a number with a dot: YAML 1.1 takes "1e-05" for text, "1.0e-05" for a
// number.
std::string YamlNumberText(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value > 0 ? ".inf" : "-.inf";
  std::string text = CsvNumber(value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos && !absl::StrContains(text, '.')) {
    text.insert(exponent, ".0");
  }
  return text;
}

// Returns whether a zero is written although it is the default, as for the
// number of trial 0 and the rate of a frozen module.
bool IsToldOfZero(const FieldDescriptor& field) {
  if (field.is_repeated() || field.has_presence()) return false;
  return field.name() == "number" ||
         (field.name() == "rate" &&
          field.containing_type()->name() == "ModuleRate");
}

class YamlWriter {
 public:
  void Put(const Message& message);
  std::string Take() { return yaml_.Take(); }

 private:
  // Times, and what stands for JSON; false for messages of other kinds.
  bool PutKnown(const Message& message);
  void PutFields(const Message& message);
  void PutList(const Message& message, const FieldDescriptor& field);
  void PutMap(const Message& message, const FieldDescriptor& field);
  // Writes the element at `index` of a repeated field, or the field itself for
  // -1.
  void PutValue(const Message& message, const FieldDescriptor& field,
                int index);
  void PutEnum(const FieldDescriptor& field, int number);
  void PutAny(const Value& value);
  void PutStruct(const google::protobuf::Struct& fields);
  void PutValues(const google::protobuf::ListValue& list);

  BlockYaml yaml_;
};

void YamlWriter::Put(const Message& message) {
  const bool may_be_known =
      message.GetDescriptor()->well_known_type() !=
      google::protobuf::Descriptor::WELLKNOWNTYPE_UNSPECIFIED;
  if (!may_be_known || !PutKnown(message)) PutFields(message);
}

bool YamlWriter::PutKnown(const Message& message) {
  if (const auto* time =
          dynamic_cast<const google::protobuf::Timestamp*>(&message)) {
    yaml_.Text(TimeUtil::ToString(*time));
  } else if (const auto* duration =
                 dynamic_cast<const google::protobuf::Duration*>(&message)) {
    yaml_.Text(TimeUtil::ToString(*duration));
  } else if (const auto* value = dynamic_cast<const Value*>(&message)) {
    PutAny(*value);
  } else if (const auto* fields =
                 dynamic_cast<const google::protobuf::Struct*>(&message)) {
    PutStruct(*fields);
  } else if (const auto* list =
                 dynamic_cast<const google::protobuf::ListValue*>(&message)) {
    PutValues(*list);
  } else {
    return false;
  }
  return true;
}

void YamlWriter::PutFields(const Message& message) {
  const auto* const type = message.GetDescriptor();
  const auto* const reflection = message.GetReflection();
  yaml_.BeginMap();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor& field = *type->field(i);
    const bool is_set = field.is_repeated()
                            ? reflection->FieldSize(message, &field) > 0
                            : reflection->HasField(message, &field);
    if (!is_set && !IsToldOfZero(field)) continue;
    yaml_.Key(field.name());
    if (field.is_map()) {
      PutMap(message, field);
    } else if (field.is_repeated()) {
      PutList(message, field);
    } else {
      PutValue(message, field, -1);
    }
  }
  yaml_.EndMap();
}

void YamlWriter::PutList(const Message& message, const FieldDescriptor& field) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  yaml_.BeginList();
  for (int i = 0; i < size; ++i) {
    yaml_.Item();
    PutValue(message, field, i);
  }
  yaml_.EndList();
}

void YamlWriter::PutMap(const Message& message, const FieldDescriptor& field) {
  const FieldDescriptor& key = *field.message_type()->map_key();
  const FieldDescriptor& value = *field.message_type()->map_value();
  const auto* const reflection = message.GetReflection();
  std::vector<std::pair<std::string, const Message*>> pairs;
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    const Message& pair = reflection->GetRepeatedMessage(message, &field, i);
    // The contract has no maps but those of text.
    if (key.cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
    pairs.emplace_back(pair.GetReflection()->GetString(pair, &key), &pair);
  }
  std::sort(pairs.begin(), pairs.end());
  yaml_.BeginMap();
  for (const auto& [name, pair] : pairs) {
    yaml_.Key(name);
    PutValue(*pair, value, -1);
  }
  yaml_.EndMap();
}

void YamlWriter::PutValue(const Message& message, const FieldDescriptor& field,
                          int index) {
  const auto& from = *message.GetReflection();
  const bool one = index < 0;
  const auto* const f = &field;
  std::string scratch;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      Put(one ? from.GetMessage(message, f)
              : from.GetRepeatedMessage(message, f, index));
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string& text =
          one ? from.GetStringReference(message, f, &scratch)
              : from.GetRepeatedStringReference(message, f, index, &scratch);
      if (field.type() == FieldDescriptor::TYPE_BYTES) {
        yaml_.Text(absl::Base64Escape(text));
      } else {
        yaml_.Text(text);
      }
      break;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      yaml_.Plain(
          YamlNumberText(one ? from.GetDouble(message, f)
                             : from.GetRepeatedDouble(message, f, index)));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      yaml_.Plain(YamlNumberText(
          static_cast<double>(one ? from.GetFloat(message, f)
                                  : from.GetRepeatedFloat(message, f, index))));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      yaml_.Plain(absl::StrCat(one ? from.GetInt64(message, f)
                                   : from.GetRepeatedInt64(message, f, index)));
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      yaml_.Plain(
          absl::StrCat(one ? from.GetUInt64(message, f)
                           : from.GetRepeatedUInt64(message, f, index)));
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      yaml_.Plain(absl::StrCat(one ? from.GetInt32(message, f)
                                   : from.GetRepeatedInt32(message, f, index)));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      yaml_.Plain(
          absl::StrCat(one ? from.GetUInt32(message, f)
                           : from.GetRepeatedUInt32(message, f, index)));
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      yaml_.Plain((one ? from.GetBool(message, f)
                       : from.GetRepeatedBool(message, f, index))
                      ? "true"
                      : "false");
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      PutEnum(field, one ? from.GetEnumValue(message, f)
                         : from.GetRepeatedEnumValue(message, f, index));
      break;
  }
}

void YamlWriter::PutEnum(const FieldDescriptor& field, int number) {
  const auto* const value = field.enum_type()->FindValueByNumber(number);
  yaml_.Plain(value == nullptr ? absl::StrCat(number) : value->name());
}

void YamlWriter::PutAny(const Value& value) {
  switch (value.kind_case()) {
    case Value::kNumberValue:
      yaml_.Plain(YamlNumberText(value.number_value()));
      break;
    case Value::kStringValue:
      yaml_.Text(value.string_value());
      break;
    case Value::kBoolValue:
      yaml_.Plain(value.bool_value() ? "true" : "false");
      break;
    case Value::kStructValue:
      PutStruct(value.struct_value());
      break;
    case Value::kListValue:
      PutValues(value.list_value());
      break;
    default:
      yaml_.Plain("~");
  }
}

void YamlWriter::PutStruct(const google::protobuf::Struct& fields) {
  std::vector<std::pair<std::string, const Value*>> sorted;
  for (const auto& [name, value] : fields.fields()) {
    sorted.emplace_back(name, &value);
  }
  std::sort(sorted.begin(), sorted.end());
  yaml_.BeginMap();
  for (const auto& [name, value] : sorted) {
    yaml_.Key(name);
    PutAny(*value);
  }
  yaml_.EndMap();
}

void YamlWriter::PutValues(const google::protobuf::ListValue& list) {
  yaml_.BeginList();
  for (const Value& value : list.values()) {
    yaml_.Item();
    PutAny(value);
  }
  yaml_.EndList();
}

}  // namespace

std::string ToYaml(const Message& message) {
  YamlWriter writer;
  writer.Put(message);
  return writer.Take();
}

}  // namespace frostline::cli
