// SPDX-License-Identifier: Apache-2.0
#include "cli/view/field_changes.h"

#include <google/protobuf/struct.pb.h>

#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "google/protobuf/util/json_util.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using Texts = std::map<std::string, std::string>;

constexpr int kSingle = -1;

// Returns whether people write the message as a value, like Protobuf's own.
bool IsValue(const Message& message) {
  return absl::StartsWith(message.GetDescriptor()->full_name(),
                          "google.protobuf.");
}

std::string JsonOf(const Message& message) {
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(message, &json);
  return json;
}

std::string ScalarText(const Message& message, const FieldDescriptor& field,
                       int at) {
  const auto* const reflection = message.GetReflection();
  const auto get = [&](auto one, auto repeated) {
    return at == kSingle ? (reflection->*one)(message, &field)
                         : (reflection->*repeated)(message, &field, at);
  };
  using R = google::protobuf::Reflection;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(get(&R::GetInt32, &R::GetRepeatedInt32));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(get(&R::GetInt64, &R::GetRepeatedInt64));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(get(&R::GetUInt32, &R::GetRepeatedUInt32));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(get(&R::GetUInt64, &R::GetRepeatedUInt64));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CsvNumber(get(&R::GetDouble, &R::GetRepeatedDouble));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return CsvNumber(get(&R::GetFloat, &R::GetRepeatedFloat));
    case FieldDescriptor::CPPTYPE_BOOL:
      return get(&R::GetBool, &R::GetRepeatedBool) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return get(&R::GetEnum, &R::GetRepeatedEnum)->name();
    default:
      return get(&R::GetString, &R::GetRepeatedString);
  }
}

// Returns the key that identifies an element of a list, else its index.
std::string KeyOf(const Message& message, int at) {
  for (const char* const name : {"select", "name", "metric"}) {
    const FieldDescriptor* const field =
        message.GetDescriptor()->FindFieldByName(name);
    if (field == nullptr || field->is_repeated() ||
        field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
      continue;
    }
    std::string key = message.GetReflection()->GetString(message, field);
    if (!key.empty()) return key;
  }
  return absl::StrCat(at);
}

void Flatten(const Message& message, const std::string& path, Texts& texts);

void FlattenMap(const Message& message, const FieldDescriptor& field,
                const std::string& path, Texts& texts) {
  const auto* const reflection = message.GetReflection();
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    const Message& pair = reflection->GetRepeatedMessage(message, &field, i);
    const FieldDescriptor& value = *field.message_type()->map_value();
    const std::string at = absl::StrCat(
        path, ".", ScalarText(pair, *field.message_type()->map_key(), kSingle));
    if (value.message_type() == nullptr) {
      texts[at] = ScalarText(pair, value, kSingle);
    } else {
      texts[at] = JsonOf(pair.GetReflection()->GetMessage(pair, &value));
    }
  }
}

void FlattenList(const Message& message, const FieldDescriptor& field,
                 const std::string& path, Texts& texts) {
  const auto* const reflection = message.GetReflection();
  std::vector<std::string> values;
  for (int i = 0; i < reflection->FieldSize(message, &field); ++i) {
    if (field.message_type() == nullptr) {
      values.push_back(ScalarText(message, field, i));
      continue;
    }
    const Message& one = reflection->GetRepeatedMessage(message, &field, i);
    // A key that comes twice gets its place, so that none hides another.
    std::string at = absl::StrCat(path, "[", KeyOf(one, i), "]");
    if (texts.contains(at)) at = absl::StrCat(path, "[", i, "]");
    texts[at] = "there";
    Flatten(one, at, texts);
  }
  if (!values.empty()) {
    texts[path] = absl::StrCat("[", absl::StrJoin(values, ", "), "]");
  }
}

void Flatten(const Message& message, const std::string& path, Texts& texts) {
  if (IsValue(message)) {
    texts[path] = JsonOf(message);
    return;
  }
  const auto* const reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* const field : fields) {
    const std::string at =
        path.empty() ? field->name() : absl::StrCat(path, ".", field->name());
    if (field->is_map()) {
      FlattenMap(message, *field, at, texts);
    } else if (field->is_repeated()) {
      FlattenList(message, *field, at, texts);
    } else if (field->message_type() == nullptr) {
      texts[at] = ScalarText(message, *field, kSingle);
    } else {
      Flatten(reflection->GetMessage(message, field), at, texts);
    }
  }
}

std::string ShownChange(const std::string& text) {
  return text.empty() ? "-" : proto::CleanText(text, proto::kMaxCauseBytes);
}

}  // namespace

std::vector<FieldChange> FieldChanges(const Message& from, const Message& to) {
  Texts before;
  Texts after;
  Flatten(from, "", before);
  Flatten(to, "", after);
  Texts paths = before;
  paths.insert(after.begin(), after.end());
  std::vector<FieldChange> changes;
  for (const auto& [path, text] : paths) {
    const auto old = before.find(path);
    const auto now = after.find(path);
    FieldChange change{.path = path,
                       .from = old == before.end() ? "" : old->second,
                       .to = now == after.end() ? "" : now->second};
    if (change.from != change.to) changes.push_back(std::move(change));
  }
  return changes;
}

std::string RenderFieldChanges(const std::vector<FieldChange>& changes) {
  std::string text;
  for (const FieldChange& change : changes) {
    absl::StrAppend(&text, change.path, ": ", ShownChange(change.from), " -> ",
                    ShownChange(change.to), "\n");
  }
  return text;
}

std::string FieldChangesToJson(const std::vector<FieldChange>& changes) {
  google::protobuf::Struct all;
  auto& list = *(*all.mutable_fields())["differences"].mutable_list_value();
  for (const FieldChange& change : changes) {
    auto& fields = *list.add_values()->mutable_struct_value()->mutable_fields();
    fields["path"].set_string_value(change.path);
    fields["from"].set_string_value(change.from);
    fields["to"].set_string_value(change.to);
  }
  return ToJson(all);
}

}  // namespace frostline::cli
