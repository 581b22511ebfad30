// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/schema_value.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/plain/json.h"
#include "cli/contract/comments.h"
#include "cli/contract/number_bounds.h"
#include "cli/study_file/yaml_scalar.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

std::string Quoted(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(JsonString(word));
  return SchemaList(quoted);
}

// Where a comment begins with words in quotes these are what the text may be,
// for editors to offer: more may be allowed.
std::vector<std::string> ExamplesIn(const std::string& comment) {
  std::vector<std::string> examples;
  if (!absl::StartsWith(comment, "\"")) return examples;
  const std::vector<std::string> parts =
      absl::StrSplit(FirstSentence(comment), '"');
  for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
    examples.push_back(parts[i]);
  }
  return examples;
}

// Any case, as a pattern: the dialect of JSON Schema has no flag for it.
std::string AnyCase(const std::string& word) {
  std::string pattern;
  for (const char letter : word) {
    const auto code = static_cast<unsigned char>(letter);
    if (absl::ascii_isalpha(code)) {
      absl::StrAppend(&pattern, "[", std::string(1, absl::ascii_toupper(code)),
                      std::string(1, absl::ascii_tolower(code)), "]");
    } else {
      pattern += letter;
    }
  }
  return pattern;
}

std::string FileEnum(const EnumDescriptor& type) {
  std::vector<std::string> forms;
  std::vector<std::string> patterns;
  for (int i = 0; i < type.value_count(); ++i) {
    const auto& value = *type.value(i);
    if (value.number() == 0) continue;
    forms.push_back(SchemaObject()
                        .PutText("const", ShortName(value))
                        .PutText("description", CommentOf(value))
                        .Json());
    patterns.push_back(AnyCase(ShortName(value)));
    patterns.push_back(AnyCase(value.name()));
  }
  forms.push_back(
      SchemaObject()
          .PutText("type", "string")
          .PutText("pattern",
                   absl::StrCat("^(", absl::StrJoin(patterns, "|"), ")$"))
          .Json());
  return AnyOf(forms);
}

std::string JsonEnum(const EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    names.push_back(type.value(i)->name());
  }
  return SchemaObject().Put("enum", Quoted(names)).Json();
}

std::string TextSchema(const FieldDescriptor& field, SchemaForm form) {
  SchemaObject schema;
  if (field.type() == FieldDescriptor::TYPE_BYTES) {
    return schema.PutText("type", "string")
        .PutText("contentEncoding", "base64")
        .Json();
  }
  // YAML reads 3 and true where text is wanted; they are that text.
  schema.Put("type", form == SchemaForm::kStudyFile
                         ? Quoted({"string", "number", "boolean"})
                         : JsonString("string"));
  const std::vector<std::string> examples = ExamplesIn(CommentOf(field));
  if (examples.size() > 1) schema.Put("examples", Quoted(examples));
  return schema.Json();
}

std::string JsonNumber(double number) {
  const bool is_whole = std::trunc(number) == number;
  return is_whole ? absl::StrCat(static_cast<std::int64_t>(number))
                  : absl::StrCat(number);
}

// What a file may not say; an answer may hold what an older coordinator took.
void PutBounds(const FieldDescriptor& field, NumberBounds bounds,
               SchemaForm form, SchemaObject* schema) {
  if (form == SchemaForm::kStudyFile) {
    const NumberBounds known = BoundsOf(field);
    if (known.least.has_value()) bounds.least = known.least;
    if (known.most.has_value()) bounds.most = known.most;
  }
  if (bounds.least) schema->Put("minimum", JsonNumber(*bounds.least));
  if (bounds.most) schema->Put("maximum", JsonNumber(*bounds.most));
}

std::string NumberSchema(const FieldDescriptor& field, SchemaForm form) {
  SchemaObject bounded;
  bounded.PutText("type", "number");
  PutBounds(field, {}, form, &bounded);
  const std::string number = bounded.Json();
  if (form == SchemaForm::kJson) {
    return AnyOf(
        {number, SchemaObject()
                     .Put("enum", Quoted({"NaN", "Infinity", "-Infinity"}))
                     .Json()});
  }
  if (!MayBeFrozen(field)) return number;
  return AnyOf({number, SchemaObject()
                            .PutText("const", "frozen")
                            .PutText("description", "The rate 0.")
                            .Json()});
}

std::string WholeSchema(const FieldDescriptor& field, SchemaForm form) {
  const auto type = field.cpp_type();
  const bool is_wide = type == FieldDescriptor::CPPTYPE_INT64 ||
                       type == FieldDescriptor::CPPTYPE_UINT64;
  SchemaObject schema;
  if (form == SchemaForm::kJson && is_wide) {
    schema.Put("type", Quoted({"string", "integer"}))
        .PutText("pattern", "^-?[0-9]+$");
  } else {
    schema.PutText("type", "integer");
  }
  NumberBounds bounds;
  if (type == FieldDescriptor::CPPTYPE_UINT64) bounds.least = 0.0;
  if (type == FieldDescriptor::CPPTYPE_INT32) {
    bounds = {.least = std::numeric_limits<std::int32_t>::min(),
              .most = std::numeric_limits<std::int32_t>::max()};
  }
  PutBounds(field, bounds, form, &schema);
  return schema.Json();
}

}  // namespace

SchemaObject& SchemaObject::Put(const std::string& key,
                                const std::string& json) {
  absl::StrAppend(&members_, members_.empty() ? "" : ",", JsonString(key), ":",
                  json);
  return *this;
}

SchemaObject& SchemaObject::PutText(const std::string& key,
                                    const std::string& text) {
  return text.empty() ? *this : Put(key, JsonString(text));
}

std::string SchemaList(const std::vector<std::string>& items) {
  return absl::StrCat("[", absl::StrJoin(items, ","), "]");
}

std::string AnyOf(const std::vector<std::string>& schemas) {
  if (schemas.size() == 1) return schemas.front();
  return SchemaObject().Put("anyOf", SchemaList(schemas)).Json();
}

bool IsGoogleType(const Descriptor& type) {
  return type.file()->package() == "google.protobuf";
}

std::string GoogleSchema(const Descriptor& type, SchemaForm form) {
  const bool is_file = form == SchemaForm::kStudyFile;
  SchemaObject schema;
  if (type.name() == "Duration") {
    schema.Put("type",
               is_file ? Quoted({"string", "number"}) : JsonString("string"));
    return schema
        .PutText("pattern", is_file ? "^[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)"
                                      "(e[-+]?[0-9]+|((h|m|s|ms|us|ns)"
                                      "([0-9.]+(h|m|s|ms|us|ns))*))?$"
                                    : "^-?[0-9]+(\\.[0-9]+)?s$")
        .Json();
  }
  if (type.name() == "ListValue") return schema.PutText("type", "array").Json();
  if (type.name() == "Struct") return schema.PutText("type", "object").Json();
  if (type.name() == "FieldMask") {
    return schema.PutText("type", "string").Json();
  }
  if (type.name() == "Timestamp") {
    return schema.PutText("type", "string")
        .PutText("format", "date-time")
        .Json();
  }
  return schema.Json();  // of any value
}

std::string ScalarSchema(const FieldDescriptor& field, SchemaForm form) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return TextSchema(field, form);
    case FieldDescriptor::CPPTYPE_ENUM:
      return form == SchemaForm::kStudyFile ? FileEnum(*field.enum_type())
                                            : JsonEnum(*field.enum_type());
    case FieldDescriptor::CPPTYPE_BOOL:
      return SchemaObject().PutText("type", "boolean").Json();
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberSchema(field, form);
    default:
      return WholeSchema(field, form);
  }
}

}  // namespace frostline::cli
