// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/plain/json.h"
#include "cli/contract/comments.h"
#include "cli/contract/request_json.h"
#include "cli/contract/schema_value.h"
#include "frostline/v1/served.pb.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

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

// What is said above a field, without its line's "// ".
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
