// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/request_json.h"

#include <google/protobuf/util/json_util.h>

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "base/plain/json.h"
#include "cli/contract/schema_value.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr std::size_t kMaxCause = 300;

// Outside of strings "//" begins a comment to the end of its line. Lengths
// stay, so that places in messages are right.
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

// `value` stands where a message of `type` does. What is no object is left to
// the reader of Protobuf, which says what it should be.
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

}  // namespace frostline::cli
