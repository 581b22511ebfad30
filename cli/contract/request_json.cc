// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/request_json.h"

#include <google/protobuf/util/json_util.h>

#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "base/plain/json.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/schema.h"
#include "frostline/v1/served.pb.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::size_t kMaxCause = 300;

// Removes comments: "//" outside of strings, up to the end of the line. The
// length stays the same, so that places in messages are right.
std::string WithoutComments(const std::string& json) {
  std::string plain = json;
  bool in_string = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (in_string && plain[i] == '\\') {
      ++i;
    } else if (plain[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && plain.compare(i, 2, "//") == 0) {
      for (; i < plain.size() && plain[i] != '\n'; ++i) plain[i] = ' ';
    }
  }
  return plain;
}

const FieldDescriptor* FieldOf(const Descriptor& type, const std::string& key) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor* const field = type.field(i);
    if (field->name() == key || field->json_name() == key) return field;
  }
  return nullptr;
}

absl::Status UnknownKey(const Descriptor& type, const std::string& key,
                        const std::string& path) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
  }
  const std::string shown = proto::CleanText(key, kMaxCause);
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("unknown field '", shown, "' in ", type.name()),
                   names.empty()
                       ? absl::StrCat(type.name(), " has no fields: write {}")
                       : Suggest(key, names),
                   absl::StrCat(path, shown));
}

// Checks the keys of `value`, which stands for a message of `type`. It accepts
// what is not an object, because Protobuf's parser says what it should be.
absl::Status CheckKeys(const JsonValue& value, const Descriptor& type,
                       const std::string& path) {
  if (!value.is(JsonKind::kObject) || IsGoogleType(type)) {
    return absl::OkStatus();
  }
  for (const JsonValue* member = value.first; member != nullptr;
       member = member->next) {
    const std::string key(member->key);
    const FieldDescriptor* const field = FieldOf(type, key);
    if (field == nullptr) return UnknownKey(type, key, path);
    const FieldDescriptor* const inner =
        field->is_map() ? field->message_type()->map_value() : field;
    if (inner->message_type() == nullptr) continue;
    const std::string at = absl::StrCat(path, field->name());
    if (!field->is_repeated()) {
      RETURN_IF_ERROR(CheckKeys(*member, *inner->message_type(), at + "."));
      continue;
    }
    int index = 0;
    for (const JsonValue* item = member->first; item != nullptr;
         item = item->next, ++index) {
      const std::string place =
          field->is_map() ? std::string(item->key) : absl::StrCat(index);
      RETURN_IF_ERROR(CheckKeys(*item, *inner->message_type(),
                                absl::StrCat(at, "[", place, "].")));
    }
  }
  return absl::OkStatus();
}

void FillRequestId(const Clock& clock, Message* request) {
  const FieldDescriptor* const field =
      request->GetDescriptor()->FindFieldByName("request_id");
  if (field == nullptr || field->is_repeated() ||
      field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return;
  }
  const auto* const reflection = request->GetReflection();
  if (!reflection->GetString(*request, field).empty()) return;
  reflection->SetString(request, field, NewRequestId(clock));
}

}  // namespace

absl::Status ReadRequest(const std::string& json, const Clock& clock,
                         Message* request) {
  const Descriptor& type = *request->GetDescriptor();
  const std::string plain = WithoutComments(json);
  const auto parsed = Json::Parse(plain);
  const bool is_object =
      parsed.ok() && parsed.value().root().is(JsonKind::kObject);
  if (!is_object) {
    const std::string why =
        parsed.ok() ? "it is no object" : parsed.fault().cause;
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("the request is no JSON object: ",
                                  proto::CleanText(why, kMaxCause)),
                     "write an object such as {\"page_size\": 10}");
  }
  RETURN_IF_ERROR(CheckKeys(parsed.value().root(), type, ""));
  const auto read = google::protobuf::util::JsonStringToMessage(plain, request);
  if (!read.ok()) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("the request is no ", type.name(), ": ",
                     proto::CleanText(std::string(read.message()), kMaxCause)),
        absl::StrCat("`frostline explain ", type.name(),
                     "` says what its fields are"));
  }
  FillRequestId(clock, request);
  return absl::OkStatus();
}

std::string ReplyLine(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  return status.ok() ? json + "\n" : "{\"error\": \"no JSON\"}\n";
}

namespace {

using google::protobuf::EnumDescriptor;

std::string Blanks(int depth) {
  return std::string(static_cast<std::size_t>(2 * depth), ' ');
}

std::string EnumNames(const EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    names.push_back(type.value(i)->name());
  }
  return absl::StrJoin(names, ", ");
}

// Returns the comment above a field, without "// ".
std::string Words(const FieldDescriptor& field) {
  std::string words = FirstSentence(CommentOf(field));
  if (field.options().HasExtension(v1::not_served)) {
    absl::StrAppend(&words, words.empty() ? "" : " ", "Not served yet.");
  }
  if (field.enum_type() != nullptr) {
    absl::StrAppend(&words, words.empty() ? "" : " ",
                    "One of: ", EnumNames(*field.enum_type()));
  }
  return words;
}

std::string ScalarExample(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "\"\"";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return JsonString(field.enum_type()->value(0)->name());
    default:
      return "0";
  }
}

std::string GoogleExample(const Descriptor& type) {
  if (type.name() == "Duration") return "\"60s\"";
  if (type.name() == "Timestamp") return "\"2026-01-01T00:00:00Z\"";
  if (type.name() == "FieldMask") return "\"\"";
  if (type.name() == "ListValue") return "[]";
  return type.name() == "Struct" ? "{}" : "null";
}

class Writer {
 public:
  std::string Message(const Descriptor& type, int depth) {
    if (IsGoogleType(type)) return GoogleExample(type);
    // A message that holds itself is written once.
    if (!open_.insert(&type).second) return "{}";
    std::string members;
    bool is_first = true;
    for (int i = 0; i < type.field_count(); ++i) {
      const FieldDescriptor& field = *type.field(i);
      if (IsAlternative(field)) {
        absl::StrAppend(&later_, Blanks(depth + 1), "// Instead: \"",
                        field.name(), "\"\n");
        continue;
      }
      absl::StrAppend(&members, is_first ? "\n" : ",\n", Take(&later_));
      members += Member(field, depth + 1);
      is_first = false;
    }
    open_.erase(&type);
    const std::string rest = Take(&later_);
    if (members.empty()) return "{}";
    return absl::StrCat("{", members, "\n", rest, Blanks(depth), "}");
  }

 private:
  // Only one field of a choice may be there: its first.
  static bool IsAlternative(const FieldDescriptor& field) {
    const auto* const choice = field.real_containing_oneof();
    return choice != nullptr && choice->field(0) != &field;
  }

  static std::string Take(std::string* text) {
    std::string taken = std::move(*text);
    text->clear();
    return taken;
  }

  std::string Member(const FieldDescriptor& field, int depth) {
    const std::string words = Words(field);
    return absl::StrCat(
        words.empty() ? "" : absl::StrCat(Blanks(depth), "// ", words, "\n"),
        Blanks(depth), "\"", field.name(), "\": ", Value(field, depth));
  }

  std::string Value(const FieldDescriptor& field, int depth) {
    if (field.is_map()) return "{}";
    if (field.message_type() == nullptr) {
      return field.is_repeated() ? "[]" : ScalarExample(field);
    }
    if (!field.is_repeated()) return Message(*field.message_type(), depth);
    return absl::StrCat("[", Message(*field.message_type(), depth), "]");
  }

  std::set<const Descriptor*> open_;
  std::string later_;  // comments that stand before the next member
};

}  // namespace

std::string RequestTemplate(const Descriptor& type) {
  return Writer().Message(type, 0) + "\n";
}

}  // namespace frostline::cli
