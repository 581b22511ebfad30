// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/catalogue.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "base/plain/json.h"
#include "cli/contract/schema.h"
#include "cli/term/table.h"
#include "frostline/v1/admin_service.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "proto/rules.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// Returns whether a full stop ends a sentence. It may also be inside one: "e.g.
// this".
bool EndsSentence(const std::string& text, std::size_t dot) {
  const std::string before = text.substr(0, dot);
  if (absl::EndsWith(before, "e.g") || absl::EndsWith(before, "i.e")) {
    return false;
  }
  if (dot + 2 >= text.size()) return true;
  return !absl::ascii_islower(static_cast<unsigned char>(text[dot + 2]));
}

}  // namespace

std::string CommentNamed(std::string_view full_name) {
  const CommentRow* const end = kCommentRows + kCommentCount;
  const CommentRow* const found =
      std::lower_bound(kCommentRows, end, full_name,
                       [](const CommentRow& row, std::string_view name) {
                         return row.name < name;
                       });
  if (found == end || found->name != full_name) return "";
  return std::string(found->text);
}

std::string FirstSentence(const std::string& comment) {
  const std::string first = comment.substr(0, comment.find("\n\n"));
  for (std::size_t dot = first.find(". "); dot != std::string::npos;
       dot = first.find(". ", dot + 1)) {
    if (EndsSentence(first, dot)) return first.substr(0, dot + 1);
  }
  return first;
}

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;

constexpr std::size_t kMaxCatalogueWord = 100;

std::vector<const FileDescriptor*> ServiceFiles() {
  return {v1::CreateStudyRequest::descriptor()->file(),
          v1::GetReportRequest::descriptor()->file(),
          v1::AcquireRequest::descriptor()->file(),
          v1::WhoAmIRequest::descriptor()->file()};
}

void AddFile(const FileDescriptor& file, std::set<const FileDescriptor*>* seen,
             std::vector<const FileDescriptor*>* files) {
  if (file.package() != ServiceFiles().front()->package()) return;
  if (!seen->insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) {
    AddFile(*file.dependency(i), seen, files);
  }
  files->push_back(&file);
}

std::vector<const FileDescriptor*> AllFiles() {
  std::set<const FileDescriptor*> seen;
  std::vector<const FileDescriptor*> files;
  for (const FileDescriptor* const file : ServiceFiles()) {
    AddFile(*file, &seen, &files);
  }
  return files;
}

std::string QualifiedName(const MethodDescriptor& method) {
  return absl::StrCat(method.service()->name(), ".", method.name());
}

absl::Status NoMethod(const std::string& word) {
  std::vector<std::string> names;
  for (const MethodDescriptor* const method : AllMethods()) {
    names.push_back(method->name());
    names.push_back(QualifiedName(*method));
  }
  const std::string near = Nearest(word, names);
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("the contract has no method '",
                                proto::CleanText(word, kMaxCatalogueWord), "'"),
                   near.empty()
                       ? "`frostline rpc --list` shows the methods there are"
                       : absl::StrCat("did you mean '", near, "'?"));
}

absl::Status SeveralMethods(const std::vector<const MethodDescriptor*>& found) {
  std::vector<std::string> names;
  for (const MethodDescriptor* const method : found) {
    names.push_back(QualifiedName(*method));
  }
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(names.size(), " services have a ", found.front()->name()),
      absl::StrCat("write ", absl::StrJoin(names, " or ")));
}

template <typename Declared>
const Declared* FindNamed(const std::vector<const Declared*>& all,
                          const std::string& word) {
  for (const Declared* const one : all) {
    if (absl::EqualsIgnoreCase(ShortNameOf(*one), word)) return one;
  }
  return nullptr;
}

}  // namespace

std::vector<const MethodDescriptor*> AllMethods() {
  std::vector<const MethodDescriptor*> methods;
  for (const FileDescriptor* const file : ServiceFiles()) {
    for (int i = 0; i < file->service_count(); ++i) {
      const auto& service = *file->service(i);
      for (int j = 0; j < service.method_count(); ++j) {
        methods.push_back(service.method(j));
      }
    }
  }
  return methods;
}

absl::StatusOr<const MethodDescriptor*> FindMethod(const std::string& word) {
  const std::string wanted =
      absl::StrReplaceAll(absl::StripPrefix(word, "/"), {{"/", "."}});
  std::vector<const MethodDescriptor*> found;
  for (const MethodDescriptor* const method : AllMethods()) {
    for (const std::string& name :
         {method->name(), QualifiedName(*method), method->full_name()}) {
      if (absl::EqualsIgnoreCase(name, wanted)) found.push_back(method);
    }
  }
  if (found.empty()) return NoMethod(wanted);
  if (found.size() > 1) return SeveralMethods(found);
  return found.front();
}

std::string MethodTable(int max_width) {
  Table table({{"METHOD"}, {"SERVED"}, {"WHAT IT DOES", Align::kLeft, 1}});
  for (const MethodDescriptor* const method : AllMethods()) {
    const bool served = !method->options().HasExtension(v1::method_not_served);
    const char* const answers = method->server_streaming() ? "stream" : "yes";
    table.AddRow({QualifiedName(*method), served ? answers : "not yet",
                  FirstSentence(CommentOf(*method))});
  }
  return table.Render(max_width);
}

std::vector<const Descriptor*> AllMessages() {
  std::vector<const Descriptor*> messages;
  for (const FileDescriptor* const file : AllFiles()) {
    for (int i = 0; i < file->message_type_count(); ++i) {
      messages.push_back(file->message_type(i));
    }
  }
  // Those inside of others stand behind all of these.
  for (std::size_t at = 0; at < messages.size(); ++at) {
    const Descriptor& type = *messages[at];
    for (int i = 0; i < type.nested_type_count(); ++i) {
      if (type.nested_type(i)->options().map_entry()) continue;
      messages.push_back(type.nested_type(i));
    }
  }
  return messages;
}

std::vector<const EnumDescriptor*> AllEnums() {
  std::vector<const EnumDescriptor*> enums;
  for (const FileDescriptor* const file : AllFiles()) {
    for (int i = 0; i < file->enum_type_count(); ++i) {
      enums.push_back(file->enum_type(i));
    }
  }
  for (const Descriptor* const type : AllMessages()) {
    for (int i = 0; i < type->enum_type_count(); ++i) {
      enums.push_back(type->enum_type(i));
    }
  }
  return enums;
}

const Descriptor* FindMessage(const std::string& word) {
  return FindNamed(AllMessages(), word);
}

const EnumDescriptor* FindEnum(const std::string& word) {
  return FindNamed(AllEnums(), word);
}

namespace {

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
  std::vector<std::string> words = {FirstSentence(CommentOf(field))};
  if (field.options().HasExtension(v1::not_served)) {
    words.push_back("Not served yet.");
  }
  if (field.enum_type() != nullptr) {
    words.push_back("One of: " + EnumNames(*field.enum_type()));
  }
  if (const std::string rule = proto::DescribeRule(field); !rule.empty()) {
    words.push_back(absl::StrCat("May be: ", rule));
  }
  std::erase(words, "");
  return absl::StrJoin(words, " ");
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
