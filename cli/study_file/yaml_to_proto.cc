// SPDX-License-Identifier: Apache-2.0
#include "cli/study_file/yaml_to_proto.h"

#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

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
