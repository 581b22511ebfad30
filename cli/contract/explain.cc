// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/explain.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/comments.h"
#include "cli/contract/field_path.h"
#include "cli/contract/schema_value.h"
#include "cli/study_file/yaml_scalar.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/term/utf8.h"
#include "frostline/v1/served.pb.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

std::string GoogleWord(const Descriptor& type) {
  if (type.name() == "Duration") return "time, such as 90s";
  if (type.name() == "Timestamp") return "point in time";
  if (type.name() == "ListValue") return "list of any values";
  if (type.name() == "Struct") return "map to any values";
  return type.name() == "Value" ? "any value" : type.name();
}

std::string ValueWord(const FieldDescriptor& field) {
  if (field.message_type() != nullptr) {
    const Descriptor& type = *field.message_type();
    return IsGoogleType(type) ? GoogleWord(type) : ShortNameOf(type);
  }
  if (field.enum_type() != nullptr) return ShortNameOf(*field.enum_type());
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return field.type() == FieldDescriptor::TYPE_BYTES ? "bytes" : "text";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return "number";
    default:
      return "whole number";
  }
}

std::string TypeWord(const FieldDescriptor& field) {
  if (field.is_map()) {
    return absl::StrCat("map to ",
                        ValueWord(*field.message_type()->map_value()));
  }
  return absl::StrCat(field.is_repeated() ? "list of " : "", ValueWord(field));
}

std::string Indented(const std::string& text, int blanks, int width) {
  const std::string lead(static_cast<std::size_t>(blanks), ' ');
  std::string lines;
  for (const auto& paragraph : absl::StrSplit(text, "\n\n")) {
    const std::string wrapped =
        WrapText(std::string(paragraph), width - blanks);
    for (const auto& line : absl::StrSplit(wrapped, '\n', absl::SkipEmpty())) {
      absl::StrAppend(&lines, lead, line, "\n");
    }
  }
  return lines;
}

std::string Marks(const FieldDescriptor& field) {
  std::string marks;
  if (const auto* const choice = field.real_containing_oneof()) {
    std::vector<std::string> names;
    for (int i = 0; i < choice->field_count(); ++i) {
      if (choice->field(i) != &field) names.push_back(choice->field(i)->name());
    }
    absl::StrAppend(&marks, "Not beside ", absl::StrJoin(names, ", "), ".\n\n");
  }
  if (field.options().HasExtension(v1::not_served)) {
    absl::StrAppend(&marks, "Not served yet; it comes with ",
                    field.options().GetExtension(v1::not_served), ".\n\n");
  }
  return marks;
}

std::string ShortForms(const Descriptor& type) {
  std::vector<std::string> forms;
  const std::string scalar = FieldOfScalar(type);
  if (!scalar.empty()) {
    forms.push_back(
        absl::StrCat("A value alone stands for {", scalar, ": value}."));
  }
  const std::string list = FieldOfList(type);
  if (!list.empty()) {
    forms.push_back(absl::StrCat("A list stands for {", list, ": list}."));
  }
  if (IsRange(type)) forms.push_back("[a, b] stands for {lo: a, hi: b}.");
  const std::string key = FieldOfKey(type);
  if (!key.empty()) {
    forms.push_back(
        absl::StrCat("Of several a map has the ", key, " of each as its key."));
  }
  return absl::StrJoin(forms, " ");
}

std::string Fields(const Descriptor& type, int width) {
  std::string text;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    absl::StrAppend(&text, "  ", field.name(), "  <", TypeWord(field), ">\n",
                    Indented(CommentOf(field), 6, width),
                    Indented(Marks(field), 6, width));
  }
  return text;
}

std::string Values(const EnumDescriptor& type, int width) {
  std::string text = "\nVALUES\n";
  for (int i = 0; i < type.value_count(); ++i) {
    const auto& value = *type.value(i);
    absl::StrAppend(&text, "  ",
                    value.number() == 0 ? "(left out)" : ShortName(value), "  ",
                    value.name(), "\n", Indented(CommentOf(value), 6, width));
  }
  return text;
}

// Of "study" each part with its own heading.
std::string Parts(const FieldPlace& place, int width) {
  std::string text;
  const bool is_study = place.messages.size() > 1;
  for (const Descriptor* const type : place.messages) {
    const std::string words = is_study && type == place.messages.back()
                                  ? "in answers, not in files"
                                  : CommentOf(*type);
    const bool has_words = is_study || !words.empty();
    if (has_words && (place.field != nullptr || is_study)) {
      absl::StrAppend(
          &text, "\n",
          Indented(absl::StrCat(ShortNameOf(*type), ": ", words), 0, width));
    }
    const std::string forms = ShortForms(*type);
    if (!forms.empty()) {
      absl::StrAppend(&text, "\nIN A STUDY FILE\n", Indented(forms, 2, width));
    }
    absl::StrAppend(&text, "\nFIELDS\n", Fields(*type, width));
  }
  return text;
}

void AddTree(const Descriptor& type, int depth,
             std::set<const Descriptor*>* open, std::string* text) {
  if (!open->insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    absl::StrAppend(text, std::string(static_cast<std::size_t>(2 * depth), ' '),
                    field.name(), "  <", TypeWord(field), ">\n");
    const Descriptor* const below = MessageBelow(field);
    if (below != nullptr) AddTree(*below, depth + 1, open, text);
  }
  open->erase(&type);
}

}  // namespace

absl::StatusOr<std::string> ExplainPath(const std::string& path, int width) {
  ASSIGN_OR_RETURN(const FieldPlace place, FindPlace(path));
  std::string text = place.path;
  std::string words;
  if (place.field != nullptr) {
    absl::StrAppend(&text, "  <", TypeWord(*place.field), ">");
    words = absl::StrCat(CommentOf(*place.field), "\n\n", Marks(*place.field));
  } else if (place.messages.size() == 1) {
    words = CommentOf(*place.messages.front());
  } else if (place.values != nullptr) {
    words = CommentOf(*place.values);
  } else {
    words =
        "The keys of a study file are the fields of StudySpec and of "
        "StudySettings, at one level.";
  }
  const std::string said = Indented(words, 0, width);
  absl::StrAppend(&text, "\n", said.empty() ? "" : "\n", said);
  if (!place.others.empty()) {
    absl::StrAppend(&text, "\nALSO\n  ", absl::StrJoin(place.others, "\n  "),
                    "\n");
  }
  if (place.values != nullptr) text += Values(*place.values, width);
  return text + Parts(place, width);
}

absl::StatusOr<std::string> ExplainTree(const std::string& path) {
  ASSIGN_OR_RETURN(const FieldPlace place, FindPlace(path));
  std::string text = place.path + "\n";
  for (const Descriptor* const type : place.messages) {
    std::set<const Descriptor*> open;
    AddTree(*type, 1, &open, &text);
  }
  return text;
}

}  // namespace frostline::cli
