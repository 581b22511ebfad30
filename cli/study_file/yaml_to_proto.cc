// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_to_proto.h"

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/struct.pb.h>

#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Kind = YamlNode::Kind;
using Result = std::optional<Wanted>;

Result PutString(const YamlNode& node, const FieldDescriptor* field,
                 Message* message) {
  const auto* const reflection = message->GetReflection();
  if (field->is_repeated()) {
    reflection->AddString(message, field, node.text);
  } else {
    reflection->SetString(message, field, node.text);
  }
  return std::nullopt;
}

Result PutEnum(const YamlNode& node, const FieldDescriptor* field,
               Message* message) {
  const auto* const value = ReadEnum(node.text, *field->enum_type());
  if (value != nullptr) {
    message->GetReflection()->SetEnum(message, field, value);
    return std::nullopt;
  }
  std::vector<std::string> names;
  for (int i = 0; i < field->enum_type()->value_count(); ++i) {
    const auto* const known = field->enum_type()->value(i);
    if (known->number() != 0) names.push_back(ShortName(*known));
  }
  return Wanted{absl::StrCat("a ", field->enum_type()->name()),
                Suggest(node.text, names)};
}

// Sets an integer. The only lists of integers in the contract are of uint64.
bool PutInteger(const std::string& text, const FieldDescriptor* field,
                Message* message) {
  const auto* const reflection = message->GetReflection();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    const auto value = ReadUint(text);
    if (value && field->is_repeated()) {
      reflection->AddUInt64(message, field, *value);
    } else if (value) {
      reflection->SetUInt64(message, field, *value);
    }
    return value.has_value();
  }
  const auto value = ReadInt(text);
  if (!value) return false;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    reflection->SetInt64(message, field, *value);
    return true;
  }
  if (*value < std::numeric_limits<std::int32_t>::min() ||
      *value > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  reflection->SetInt32(message, field, static_cast<std::int32_t>(*value));
  return true;
}

Result PutBool(const YamlNode& node, const FieldDescriptor* field,
               Message* message) {
  const auto value = node.quoted ? std::nullopt : ReadBool(node.text);
  if (!value) return Wanted{"true or false", "write true or false"};
  message->GetReflection()->SetBool(message, field, *value);
  return std::nullopt;
}

Result PutDouble(const YamlNode& node, const FieldDescriptor* field,
                 Message* message) {
  const bool frozen = node.text == "frozen" && MayBeFrozen(*field);
  const auto value =
      frozen ? std::optional<double>(0.0) : ReadDouble(node.text);
  if (node.quoted || !value) {
    return Wanted{"a finite number", "write it without quotes, e.g. 2e-5"};
  }
  const auto* const reflection = message->GetReflection();
  if (field->is_repeated()) {
    reflection->AddDouble(message, field, *value);
  } else {
    reflection->SetDouble(message, field, *value);
  }
  return std::nullopt;
}

}  // namespace

Result PutScalar(const YamlNode& node, const FieldDescriptor* field,
                 Message* message) {
  if (node.kind != Kind::kScalar) {
    return Wanted{"a single value", node.kind == Kind::kNull
                                        ? "give it a value or remove the key"
                                        : "write one value"};
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return PutString(node, field, message);
    case FieldDescriptor::CPPTYPE_ENUM:
      return PutEnum(node, field, message);
    case FieldDescriptor::CPPTYPE_BOOL:
      return PutBool(node, field, message);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return PutDouble(node, field, message);
    default:
      break;
  }
  if (!node.quoted && PutInteger(node.text, field, message)) {
    return std::nullopt;
  }
  return Wanted{"a whole number in range",
                "write digits without quotes, e.g. 200"};
}

bool IsWellKnown(const google::protobuf::Descriptor& type) {
  return &type == google::protobuf::Duration::descriptor() ||
         &type == google::protobuf::Value::descriptor() ||
         &type == google::protobuf::ListValue::descriptor() ||
         &type == google::protobuf::Struct::descriptor();
}

Result PutWellKnown(const YamlNode& node, Message* message) {
  if (auto* const list = dynamic_cast<google::protobuf::ListValue*>(message)) {
    if (node.kind != Kind::kList) return Wanted{"a list", "write [ … ]"};
    *list = ReadAny(node).list_value();
  } else if (auto* const map =
                 dynamic_cast<google::protobuf::Struct*>(message)) {
    if (node.kind != Kind::kMap) return Wanted{"a map", "write {key: value}"};
    *map = ReadAny(node).struct_value();
  } else if (auto* const time =
                 dynamic_cast<google::protobuf::Duration*>(message)) {
    const auto value =
        node.kind == Kind::kScalar ? ReadDuration(node.text) : std::nullopt;
    if (!value) {
      return Wanted{"a time", "write it like 60s, 1h30m or 500ms"};
    }
    *time = *value;
  } else {
    *dynamic_cast<google::protobuf::Value*>(message) = ReadAny(node);
  }
  return std::nullopt;
}

namespace {

using google::protobuf::Descriptor;

std::string Below(const std::string& path, const std::string& key) {
  return path.empty() ? key : absl::StrCat(path, ".", key);
}

}  // namespace

std::vector<std::string> FieldNames(const Descriptor& message) {
  std::vector<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) {
    names.push_back(message.field(i)->name());
  }
  return names;
}

absl::Status YamlToProto::Expected(const YamlNode& node,
                                   const std::string& path,
                                   const Wanted& wanted) const {
  return ErrorAt(
      ErrorId::kStudyFileSyntax, file_, node.mark,
      absl::StrCat(path.empty() ? "the study" : path, " is ", Describe(node),
                   node.quoted ? " in quotes" : "", ", not ", wanted.what),
      wanted.fix, path);
}

absl::Status YamlToProto::Twice(const YamlEntry& entry,
                                const std::string& other,
                                const std::string& path) const {
  return ErrorAt(ErrorId::kStudyFileSyntax, file_, entry.key_mark,
                 absl::StrCat("'", entry.key, "' stands beside '", other,
                              "', which says the same thing"),
                 "keep one of the two", path);
}

absl::Status YamlToProto::Fill(const YamlPtr& node, const std::string& path,
                               Message* message) const {
  const Descriptor& type = *message->GetDescriptor();
  const YamlPtr full = LongForm(node, type);
  if (full->kind != Kind::kMap) {
    return Expected(*full, path,
                    {absl::StrCat("a map that describes a ", type.name()),
                     Suggest("", FieldNames(type))});
  }
  std::set<const FieldDescriptor*> seen;
  for (const YamlEntry& entry : full->entries) {
    const FieldDescriptor* const field =
        type.FindFieldByName(LongKey(entry.key, type));
    const std::string at = Below(path, entry.key);
    if (field == nullptr) {
      return ErrorAt(ErrorId::kStudyFieldUnknown, file_, entry.key_mark,
                     absl::StrCat("unknown key '", entry.key, "' in ",
                                  path.empty() ? "the study" : path),
                     Suggest(entry.key, FieldNames(type)), at);
    }
    if (!seen.insert(field).second) {
      return Twice(entry, field->name(), at);
    }
    RETURN_IF_ERROR(
        FillField(entry, Below(path, field->name()), field, message));
  }
  return absl::OkStatus();
}

absl::Status YamlToProto::FillField(const YamlEntry& entry,
                                    const std::string& path,
                                    const FieldDescriptor* field,
                                    Message* message) const {
  const auto* reflection = message->GetReflection();
  const auto* choice = field->real_containing_oneof();
  const FieldDescriptor* const other =
      choice == nullptr ? nullptr
                        : reflection->GetOneofFieldDescriptor(*message, choice);
  if (other != nullptr) return Twice(entry, other->name(), path);
  places_->emplace(path, entry.key_mark);
  if (field->is_map()) return FillMap(entry.value, path, field, message);
  if (field->is_repeated()) return FillList(entry.value, path, field, message);
  return FillValue(entry.value, path, field, message);
}

absl::Status YamlToProto::FillList(const YamlPtr& node, const std::string& path,
                                   const FieldDescriptor* field,
                                   Message* message) const {
  const YamlPtr list = field->message_type() == nullptr
                           ? node
                           : LongList(node, *field->message_type());
  if (list->kind != Kind::kList) {
    return Expected(
        *list, path,
        {"a list", absl::StrCat("write ", field->name(), ": [ … ]")});
  }
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string at = absl::StrCat(path, "[", i, "]");
    places_->emplace(at, list->items[i]->mark);
    RETURN_IF_ERROR(FillValue(list->items[i], at, field, message));
  }
  return absl::OkStatus();
}

absl::Status YamlToProto::FillMap(const YamlPtr& node, const std::string& path,
                                  const FieldDescriptor* field,
                                  Message* message) const {
  if (node->kind != Kind::kMap) {
    return Expected(
        *node, path,
        {"a map", absl::StrCat("write ", field->name(), ": {key: value}")});
  }
  const FieldDescriptor* const key = field->message_type()->map_key();
  const FieldDescriptor* const value = field->message_type()->map_value();
  for (const YamlEntry& entry : node->entries) {
    const std::string at = Below(path, entry.key);
    places_->emplace(at, entry.key_mark);
    Message* const pair = message->GetReflection()->AddMessage(message, field);
    pair->GetReflection()->SetString(pair, key, entry.key);
    RETURN_IF_ERROR(FillValue(entry.value, at, value, pair));
  }
  return absl::OkStatus();
}

absl::Status YamlToProto::FillValue(const YamlPtr& node,
                                    const std::string& path,
                                    const FieldDescriptor* field,
                                    Message* message) const {
  std::optional<Wanted> wanted;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const auto* const reflection = message->GetReflection();
    Message* const value = field->is_repeated()
                               ? reflection->AddMessage(message, field)
                               : reflection->MutableMessage(message, field);
    if (!IsWellKnown(*field->message_type())) return Fill(node, path, value);
    wanted = PutWellKnown(*node, value);
  } else {
    wanted = PutScalar(*node, field, message);
  }
  if (!wanted.has_value()) return absl::OkStatus();
  return Expected(*node, path, *wanted);
}

}  // namespace frostline::cli
