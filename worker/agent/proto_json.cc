// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/proto_json.h"

#include <cctype>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"

namespace frostline::agent {
namespace {

using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;

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
