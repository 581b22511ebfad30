// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/set_field.h"

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/recipe/recipe_file.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/study_file/yaml_to_proto.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr char kSetFlag[] = "--set";

struct Assignment {
  std::string path;
  YamlPtr value;
};

absl::StatusOr<Assignment> Split(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("'", text, "' gives no value"),
        "write NAME=VALUE, e.g. --set training.epochs=3", kSetFlag);
  }
  Assignment assignment;
  assignment.path = text.substr(0, equals);
  ASSIGN_OR_RETURN(assignment.value,
                   ParseValue(text.substr(equals + 1), kSetFlag));
  return assignment;
}

absl::Status NoField(const std::string& part, const std::string& path,
                     const std::vector<std::string>& names) {
  return MakeError(ErrorId::kStudyFieldUnknown,
                   absl::StrCat("there is no '", part, "' in ", path),
                   Suggest(part, names), kSetFlag);
}

// Returns the message for a part such as "modules[0]".
absl::StatusOr<Message*> Element(const std::string& part,
                                 const std::string& path, Message* message) {
  const std::size_t bracket = part.find('[');
  const std::string name = part.substr(0, bracket);
  const auto& type = *message->GetDescriptor();
  const FieldDescriptor* const field =
      type.FindFieldByName(LongKey(name, type));
  if (field == nullptr) return NoField(name, path, FieldNames(type));
  const auto* const reflection = message->GetReflection();
  const bool is_message =
      field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_map();
  if (is_message && !field->is_repeated() && bracket == std::string::npos) {
    return reflection->MutableMessage(message, field);
  }
  int at = -1;
  if (is_message && field->is_repeated() && bracket != std::string::npos &&
      part.back() == ']' &&
      absl::SimpleAtoi(part.substr(bracket + 1, part.size() - bracket - 2),
                       &at) &&
      at >= 0 && at < reflection->FieldSize(*message, field)) {
    return reflection->MutableRepeatedMessage(message, field, at);
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", part, "' leads to nothing in ", path),
                   field->is_repeated()
                       ? absl::StrCat("the study has ",
                                      reflection->FieldSize(*message, field),
                                      " ", name, ", counted from [0]")
                       : "end the path here",
                   kSetFlag);
}

bool IsMapOrStruct(const FieldDescriptor& field) {
  return field.is_map() ||
         (field.message_type() != nullptr && !field.is_repeated() &&
          field.message_type() == google::protobuf::Struct::descriptor());
}

// Sets the field. A map takes the whole rest of the path, because its keys may
// have dots.
absl::Status Put(const std::string& path, const YamlPtr& value,
                 const std::string& whole, Message* message) {
  const std::size_t dot = path.find('.');
  const std::string head = path.substr(0, dot);
  const auto& type = *message->GetDescriptor();
  const FieldDescriptor* const field =
      type.FindFieldByName(LongKey(head, type));
  const auto* const reflection = message->GetReflection();
  if (dot != std::string::npos && field != nullptr && IsMapOrStruct(*field)) {
    const std::string key = path.substr(dot + 1);
    if (!field->is_map()) {
      auto& all = *dynamic_cast<google::protobuf::Struct*>(
          reflection->MutableMessage(message, field));
      (*all.mutable_fields())[key] = ReadAny(*value);
      return absl::OkStatus();
    }
    FieldPlaces places;
    const YamlEntry entry{key, value->mark, value};
    return YamlToProto(kSetFlag, &places)
        .Fill(MapNode({{head, value->mark, MapNode({entry}, value->mark)}},
                      value->mark),
              "", message);
  }
  if (dot != std::string::npos) {
    ASSIGN_OR_RETURN(Message* const inner, Element(head, whole, message));
    return Put(path.substr(dot + 1), value, whole, inner);
  }
  if (field == nullptr) return NoField(head, whole, FieldNames(type));
  const auto* const choice = field->real_containing_oneof();
  if (choice != nullptr) reflection->ClearOneof(message, choice);
  reflection->ClearField(message, field);
  FieldPlaces places;
  return YamlToProto(kSetFlag, &places)
      .Fill(MapNode({{head, value->mark, value}}, value->mark), "", message);
}

}  // namespace

absl::Status SetField(const std::string& assignment, v1::StudySpec& spec,
                      v1::StudySettings& settings) {
  ASSIGN_OR_RETURN(const Assignment set, Split(assignment));
  const std::string top = set.path.substr(0, set.path.find_first_of(".["));
  const auto& of_spec = *v1::StudySpec::descriptor();
  const auto& of_settings = *v1::StudySettings::descriptor();
  if (of_spec.FindFieldByName(top) != nullptr) {
    return Put(set.path, set.value, set.path, &spec);
  }
  if (of_settings.FindFieldByName(top) != nullptr) {
    return Put(set.path, set.value, set.path, &settings);
  }
  std::vector<std::string> names = FieldNames(of_spec);
  const std::vector<std::string> more = FieldNames(of_settings);
  names.insert(names.end(), more.begin(), more.end());
  return NoField(top, "the study", names);
}

absl::Status SetPointValues(const std::vector<std::string>& assignments,
                            PointMap& values) {
  for (const std::string& assignment : assignments) {
    ASSIGN_OR_RETURN(const Assignment set, Split(assignment));
    google::protobuf::Value value = ReadAny(*set.value);
    const bool is_frozen =
        !set.value->quoted && value.string_value() == "frozen";
    if (is_frozen) value.set_number_value(0.0);
    if (!values.insert({set.path, value}).second) {
      return MakeError(ErrorId::kRequestInvalid,
                       absl::StrCat("'", set.path, "' is set twice"),
                       "give each parameter one value", kSetFlag);
    }
  }
  return absl::OkStatus();
}

namespace {

absl::Status NoLabel(const std::string& cause, const std::string& flag) {
  return MakeError(ErrorId::kRequestInvalid, cause,
                   "write KEY=VALUE to set a label, KEY- to take it away, "
                   "each key once",
                   flag);
}

}  // namespace

absl::Status ChangeLabels(const std::vector<std::string>& words,
                          const std::string& flag, LabelMap& labels) {
  LabelMap changed = labels;
  std::set<std::string> seen;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool takes_away =
        equals == std::string::npos && word.size() > 1 && word.back() == '-';
    if (!takes_away && (equals == std::string::npos || equals == 0)) {
      return NoLabel(absl::StrCat("'", word, "' is no change of a label"),
                     flag);
    }
    const std::string key =
        takes_away ? word.substr(0, word.size() - 1) : word.substr(0, equals);
    if (!seen.insert(key).second) {
      return NoLabel(absl::StrCat("the label '", key, "' is named twice"),
                     flag);
    }
    if (takes_away) {
      changed.erase(key);
    } else {
      changed[key] = word.substr(equals + 1);
    }
  }
  labels = std::move(changed);
  return absl::OkStatus();
}

}  // namespace frostline::cli
