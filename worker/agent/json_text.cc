// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/json_text.h"

#include <cctype>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"

namespace frostline::agent {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 8;
// -Infinity before Infinity, so that the sign is not left outside.
constexpr const char* kBareWords[] = {"-Infinity", "Infinity", "NaN"};

// Index just behind the string that starts at `text[begin]`, a quote.
std::size_t SkipString(const std::string& text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

const char* BareWordAt(const std::string& text, std::size_t i) {
  for (const char* word : kBareWords) {
    if (text.compare(i, std::char_traits<char>::length(word), word) == 0) {
      return word;
    }
  }
  return nullptr;
}

// Nothing when it nests too deep.
std::optional<std::string> QuoteBareWords(const std::string& text) {
  std::string quoted;
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxDepth) return std::nullopt;
    const char* const word = BareWordAt(text, i);
    std::size_t next = i + 1;
    if (c == '"') next = SkipString(text, i);
    if (word == nullptr) {
      quoted.append(text, i, next - i);
    } else {
      quoted.append("\"").append(word).append("\"");
      next = i + std::char_traits<char>::length(word);
    }
    i = next;
  }
  return quoted;
}

}  // namespace

std::optional<json> ParseJsonText(const std::string& text) {
  const auto quoted = QuoteBareWords(text);
  if (!quoted.has_value()) return std::nullopt;
  json value = json::parse(*quoted, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

std::string PrintJsonText(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<double> NumberOf(const json& value) {
  using Limits = std::numeric_limits<double>;
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return Limits::quiet_NaN();
  if (value == "Infinity") return Limits::infinity();
  if (value == "-Infinity") return -Limits::infinity();
  return std::nullopt;
}

namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// "DIRECTION_MAXIMIZE" of enum Direction is "maximize".
std::string ShortName(const EnumValueDescriptor* value) {
  std::string prefix;
  for (const char c : value->type()->name()) {
    if (std::isupper(static_cast<unsigned char>(c)) && !prefix.empty()) {
      prefix += '_';
    }
    prefix += c;
  }
  prefix = absl::AsciiStrToUpper(prefix) + "_";
  const std::string& name = value->name();
  const bool prefixed = name.compare(0, prefix.size(), prefix) == 0;
  return absl::AsciiStrToLower(prefixed ? name.substr(prefix.size()) : name);
}

// `i` below 0: the field is not repeated.
json FieldJson(const Message& message, const FieldDescriptor* field, int i) {
  const Reflection& look = *message.GetReflection();
#define FROSTLINE_GET_(Type)                    \
  (i < 0 ? json(look.Get##Type(message, field)) \
         : json(look.GetRepeated##Type(message, field, i)))
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return FROSTLINE_GET_(Int32);
    case FieldDescriptor::CPPTYPE_INT64:
      return FROSTLINE_GET_(Int64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return FROSTLINE_GET_(UInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return FROSTLINE_GET_(UInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return FROSTLINE_GET_(Double);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return FROSTLINE_GET_(Float);
    case FieldDescriptor::CPPTYPE_BOOL:
      return FROSTLINE_GET_(Bool);
    case FieldDescriptor::CPPTYPE_STRING:
      return FROSTLINE_GET_(String);
    case FieldDescriptor::CPPTYPE_ENUM:
      return ShortName(i < 0 ? look.GetEnum(message, field)
                             : look.GetRepeatedEnum(message, field, i));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(i < 0 ? look.GetMessage(message, field)
                          : look.GetRepeatedMessage(message, field, i));
  }
#undef FROSTLINE_GET_
  return nullptr;
}

json MapJson(const Message& message, const FieldDescriptor* field) {
  json object = json::object();
  const Reflection& look = *message.GetReflection();
  const FieldDescriptor* const key = field->message_type()->map_key();
  const FieldDescriptor* const value = field->message_type()->map_value();
  for (int i = 0; i < look.FieldSize(message, field); ++i) {
    const Message& entry = look.GetRepeatedMessage(message, field, i);
    // Every map of the contract is keyed by a string.
    object[entry.GetReflection()->GetString(entry, key)] =
        FieldJson(entry, value, -1);
  }
  return object;
}

json ListJson(const Message& message, const FieldDescriptor* field) {
  json list = json::array();
  const int size = message.GetReflection()->FieldSize(message, field);
  for (int i = 0; i < size; ++i) list.push_back(FieldJson(message, field, i));
  return list;
}

json StructJson(const google::protobuf::Struct& fields) {
  json object = json::object();
  for (const auto& [name, value] : fields.fields()) {
    object[name] = ToJson(value);
  }
  return object;
}

}  // namespace

json ToJson(const google::protobuf::Value& value) {
  switch (value.kind_case()) {
    case google::protobuf::Value::kNumberValue:
      return value.number_value();
    case google::protobuf::Value::kStringValue:
      return value.string_value();
    case google::protobuf::Value::kBoolValue:
      return value.bool_value();
    case google::protobuf::Value::kStructValue:
      return StructJson(value.struct_value());
    case google::protobuf::Value::kListValue: {
      json list = json::array();
      for (const auto& item : value.list_value().values()) {
        list.push_back(ToJson(item));
      }
      return list;
    }
    default:
      return nullptr;
  }
}

json ToJson(const Message& message) {
  if (const auto* fields =
          dynamic_cast<const google::protobuf::Struct*>(&message)) {
    return StructJson(*fields);
  }
  if (const auto* value =
          dynamic_cast<const google::protobuf::Value*>(&message)) {
    return ToJson(*value);
  }
  json object = json::object();
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    object[field->name()] = field->is_map() ? MapJson(message, field)
                            : field->is_repeated()
                                ? ListJson(message, field)
                                : FieldJson(message, field, -1);
  }
  return object;
}

}  // namespace frostline::agent
