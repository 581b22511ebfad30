// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/schema.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/plain/training_table.h"
#include "cli/contract/catalogue.h"
#include "cli/study_file/yaml_sugar.h"
#include "frostline/v1/rules.pb.h"
#include "frostline/v1/served.pb.h"
#include "frostline/v1/study.pb.h"
#include "study/freezing.h"

namespace frostline::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// Returns the quoted words at the start of a comment. They are examples that an
// editor may offer; other texts may be valid too.
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

// Returns a pattern for any case, because JSON Schema has no flag for it.
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
    JsonObject known;
    known.PutText("const", ShortName(value));
    const std::string comment = CommentOf(value);
    if (!comment.empty()) known.PutText("description", comment);
    forms.push_back(known.Text());
    patterns.push_back(AnyCase(ShortName(value)));
    patterns.push_back(AnyCase(value.name()));
  }
  forms.push_back(
      JsonObject()
          .PutText("type", "string")
          .PutText("pattern",
                   absl::StrCat("^(", absl::StrJoin(patterns, "|"), ")$"))
          .Text());
  return AnyOf(forms);
}

std::string JsonEnum(const EnumDescriptor& type) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(type.value_count()));
  for (int i = 0; i < type.value_count(); ++i) {
    names.push_back(type.value(i)->name());
  }
  return JsonObject().Put("enum", JsonTexts(names)).Text();
}

std::string TextSchema(const FieldDescriptor& field, SchemaForm form) {
  JsonObject schema;
  if (field.type() == FieldDescriptor::TYPE_BYTES) {
    return schema.PutText("type", "string")
        .PutText("contentEncoding", "base64")
        .Text();
  }
  // YAML reads 3 and true where text is wanted; they are that text.
  schema.Put("type", form == SchemaForm::kStudyFile
                         ? JsonTexts({"string", "number", "boolean"})
                         : JsonString("string"));
  const std::vector<std::string> examples = ExamplesIn(CommentOf(field));
  if (examples.size() > 1) schema.Put("examples", JsonTexts(examples));
  return schema.Text();
}

std::string BoundJson(double number) {
  const bool is_whole = std::trunc(number) == number;
  return is_whole ? absl::StrCat(static_cast<std::int64_t>(number))
                  : absl::StrCat(number);
}

// Adds bounds to the schema of a study file. An answer has none, because it may
// hold what an older coordinator accepted.
void PutBounds(const FieldDescriptor& field, NumberBounds bounds,
               SchemaForm form, JsonObject* schema) {
  if (form == SchemaForm::kStudyFile) {
    const NumberBounds known = BoundsOf(field);
    if (known.least.has_value()) bounds.least = known.least;
    if (known.most.has_value()) bounds.most = known.most;
  }
  if (bounds.least) schema->Put("minimum", BoundJson(*bounds.least));
  if (bounds.most) schema->Put("maximum", BoundJson(*bounds.most));
}

std::string NumberSchema(const FieldDescriptor& field, SchemaForm form) {
  JsonObject bounded;
  bounded.PutText("type", "number");
  PutBounds(field, {}, form, &bounded);
  std::string number = bounded.Text();
  if (form == SchemaForm::kJson) {
    return AnyOf(
        {number, JsonObject()
                     .Put("enum", JsonTexts({"NaN", "Infinity", "-Infinity"}))
                     .Text()});
  }
  if (!MayBeFrozen(field)) return number;
  return AnyOf({number, JsonObject()
                            .PutText("const", "frozen")
                            .PutText("description", "The rate 0.")
                            .Text()});
}

std::string WholeSchema(const FieldDescriptor& field, SchemaForm form) {
  const auto type = field.cpp_type();
  const bool is_wide = type == FieldDescriptor::CPPTYPE_INT64 ||
                       type == FieldDescriptor::CPPTYPE_UINT64;
  JsonObject schema;
  if (form == SchemaForm::kJson && is_wide) {
    schema.Put("type", JsonTexts({"string", "integer"}))
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
  return schema.Text();
}

}  // namespace

std::string AnyOf(const std::vector<std::string>& schemas) {
  if (schemas.size() == 1) return schemas.front();
  return JsonObject().Put("anyOf", JsonList(schemas)).Text();
}

bool IsGoogleType(const Descriptor& type) {
  return type.file()->package() == "google.protobuf";
}

std::string GoogleSchema(const Descriptor& type, SchemaForm form) {
  const bool is_file = form == SchemaForm::kStudyFile;
  JsonObject schema;
  if (type.name() == "Duration") {
    schema.Put("type", is_file ? JsonTexts({"string", "number"})
                               : JsonString("string"));
    return schema
        .PutText("pattern", is_file ? "^[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)"
                                      "(e[-+]?[0-9]+|((h|m|s|ms|us|ns)"
                                      "([0-9.]+(h|m|s|ms|us|ns))*))?$"
                                    : "^-?[0-9]+(\\.[0-9]+)?s$")
        .Text();
  }
  if (type.name() == "ListValue") return schema.PutText("type", "array").Text();
  if (type.name() == "Struct") return schema.PutText("type", "object").Text();
  if (type.name() == "FieldMask") {
    return schema.PutText("type", "string").Text();
  }
  if (type.name() == "Timestamp") {
    return schema.PutText("type", "string")
        .PutText("format", "date-time")
        .Text();
  }
  return schema.Text();  // of any value
}

std::string ScalarSchema(const FieldDescriptor& field, SchemaForm form) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return TextSchema(field, form);
    case FieldDescriptor::CPPTYPE_ENUM:
      return form == SchemaForm::kStudyFile ? FileEnum(*field.enum_type())
                                            : JsonEnum(*field.enum_type());
    case FieldDescriptor::CPPTYPE_BOOL:
      return JsonObject().PutText("type", "boolean").Text();
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberSchema(field, form);
    default:
      return WholeSchema(field, form);
  }
}

namespace {

// Returns the block of the training table that has the upper limits of a
// message's numbers.
const std::map<std::string, std::string>& Blocks() {
  static const auto* const blocks =
      new std::map<std::string, std::string>{{"Training", ""},
                                             {"LoraSpec", "lora."},
                                             {"AdapterSpec", "adapters."},
                                             {"SmartSpec", "smart."},
                                             {"FreezeSemantics", "freeze."},
                                             {"DataRef", "data."},
                                             {"ModelRef", "model."}};
  return *blocks;
}

}  // namespace

NumberBounds BoundsOf(const google::protobuf::FieldDescriptor& field) {
  if (field.is_repeated()) return {};
  NumberBounds bounds;
  const v1::Rule& rule = field.options().GetExtension(v1::rule);
  if (rule.has_least()) bounds.least = rule.least();
  if (rule.has_most()) bounds.most = rule.most();
  if (rule.has_least() || rule.has_most()) return bounds;
  const auto& message = *field.containing_type();
  if (!message.options().GetExtension(v1::no_negative_numbers)) return {};
  bounds.least = 0.0;
  const auto block = Blocks().find(message.name());
  if (block == Blocks().end()) return bounds;
  const SettingRow* const row = FindSetting(block->second + field.name());
  const bool has_range = row != nullptr && (row->kind == SettingKind::kWhole ||
                                            row->kind == SettingKind::kNumber);
  if (has_range && row->most < kAnyCount) bounds.most = row->most;
  return bounds;
}

namespace {

// Adds a description to a schema, if there is one. A reference may have further
// keys.
std::string Described(const std::string& schema, const std::string& words) {
  if (words.empty()) return schema;
  const std::string member =
      absl::StrCat("\"description\":", JsonString(words));
  return schema == "{}" ? absl::StrCat("{", member, "}")
                        : absl::StrCat("{", member, ",", schema.substr(1));
}

std::string ListOf(const std::string& items) {
  return JsonObject().PutText("type", "array").Put("items", items).Text();
}

std::string MapTo(const std::string& values) {
  return JsonObject()
      .PutText("type", "object")
      .Put("additionalProperties", values)
      .Text();
}

std::vector<std::string> Choices(const Descriptor& type) {
  std::vector<std::string> rules;
  for (int i = 0; i < type.real_oneof_decl_count(); ++i) {
    std::vector<std::string> keys;
    keys.reserve(static_cast<std::size_t>(type.oneof_decl(i)->field_count()));
    for (int j = 0; j < type.oneof_decl(i)->field_count(); ++j) {
      keys.push_back(type.oneof_decl(i)->field(j)->name());
    }
    for (const std::string& rule : Exclusive(keys)) rules.push_back(rule);
  }
  return rules;
}

}  // namespace

std::vector<std::string> Exclusive(const std::vector<std::string>& keys) {
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    for (std::size_t j = i + 1; j < keys.size(); ++j) {
      const std::string both =
          JsonObject().Put("required", JsonTexts({keys[i], keys[j]})).Text();
      rules.push_back(JsonObject().Put("not", both).Text());
    }
  }
  return rules;
}

std::string SchemaDefinitions::OneValue(const FieldDescriptor& field) {
  return field.message_type() == nullptr ? ScalarSchema(field, form_)
                                         : Message(*field.message_type());
}

std::string SchemaDefinitions::Field(const FieldDescriptor& field) {
  if (field.is_map()) {
    return MapTo(OneValue(*field.message_type()->map_value()));
  }
  std::string one = OneValue(field);
  if (!field.is_repeated()) return one;
  const bool has_keys = form_ == SchemaForm::kStudyFile &&
                        field.message_type() != nullptr &&
                        !FieldOfKey(*field.message_type()).empty();
  return has_keys ? AnyOf({ListOf(one), MapTo(one)}) : ListOf(one);
}

std::string SchemaDefinitions::Message(const Descriptor& type) {
  if (IsGoogleType(type)) return GoogleSchema(type, form_);
  const std::string name = ShortNameOf(type);
  // The place is taken first: a message may hold itself.
  if (made_.emplace(name, "").second) made_[name] = Definition(type);
  return JsonObject().PutText("$ref", "#/$defs/" + name).Text();
}

void SchemaDefinitions::AddProperties(const Descriptor& type,
                                      JsonObject* properties) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.options().HasExtension(v1::not_served)) continue;
    properties->Put(field.name(), Described(Field(field), CommentOf(field)));
  }
}

std::string SchemaDefinitions::Object(const Descriptor& type) {
  JsonObject properties;
  AddProperties(type, &properties);
  std::vector<std::string> rules = Choices(type);
  // The one key with another name than its field (LongKey).
  const auto* const ties = type.FindFieldByName(LongKey("tie", type));
  if (form_ == SchemaForm::kStudyFile && ties != nullptr) {
    properties.Put("tie", Described(Field(*ties), CommentOf(*ties)));
    rules.push_back(Exclusive({"tie", "ties"}).front());
  }
  JsonObject object;
  object.PutText("type", "object").Put("properties", properties.Text());
  object.Put("additionalProperties", "false");
  if (!rules.empty()) object.Put("allOf", JsonList(rules));
  return object.Text();
}

std::string SchemaDefinitions::ListFor(const Descriptor& type) {
  if (IsRange(type)) {
    return JsonObject()
        .PutText("type", "array")
        .Put("items", ScalarSchema(*type.FindFieldByName("lo"), form_))
        .Put("minItems", "2")
        .Put("maxItems", "2")
        .Text();
  }
  const auto* const field = type.FindFieldByName(FieldOfList(type));
  if (field == nullptr) return "";
  if (field->is_repeated()) return Field(*field);
  const Descriptor& inner = *field->message_type();
  return IsGoogleType(inner) ? GoogleSchema(inner, form_) : ListFor(inner);
}

// Returns the schema of {full: 1e-3} and {first_k: {k: 2, rate: 1e-3}}.
std::string SchemaDefinitions::NamedStrategies(const Descriptor& type) {
  JsonObject rest;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.name() == "name") continue;
    rest.Put(field.name(), Described(Field(field), CommentOf(field)));
  }
  const std::string value =
      AnyOf({ScalarSchema(*type.FindFieldByName("rate"), form_),
             JsonObject()
                 .PutText("type", "object")
                 .Put("properties", rest.Text())
                 .Put("additionalProperties", "false")
                 .Text()});
  JsonObject names;
  for (const std::string& name : StrategyNames()) names.Put(name, value);
  return JsonObject()
      .PutText("type", "object")
      .Put("properties", names.Text())
      .Put("additionalProperties", "false")
      .Put("minProperties", "1")
      .Put("maxProperties", "1")
      .Text();
}

std::string SchemaDefinitions::Definition(const Descriptor& type) {
  std::vector<std::string> forms = {Object(type)};
  if (form_ == SchemaForm::kStudyFile) {
    const auto* const scalar = type.FindFieldByName(FieldOfScalar(type));
    if (scalar != nullptr) forms.push_back(ScalarSchema(*scalar, form_));
    const std::string list = ListFor(type);
    if (!list.empty()) forms.push_back(list);
    if (type.name() == "Strategy") forms.push_back(NamedStrategies(type));
  }
  return Described(AnyOf(forms), CommentOf(type));
}

std::string SchemaDefinitions::Json() const {
  JsonObject all;
  for (const auto& [name, schema] : made_) all.Put(name, schema);
  return all.Text();
}

namespace {

constexpr char kDraft[] = "https://json-schema.org/draft/2020-12/schema";
constexpr char kObjectives[] = "objectives";

std::string Requires(const std::string& key) {
  return JsonObject().Put("required", JsonList({JsonString(key)})).Text();
}

// Returns the schema of a metric's name, of names with ranges, or of a list of
// both.
std::string ObjectiveSchema(const std::string& key,
                            SchemaDefinitions* definitions) {
  const std::string range =
      definitions->Message(*v1::MetricRange::descriptor());
  const std::string name =
      JsonObject().Put("type", R"(["string","number","boolean"])").Text();
  JsonObject ranged;
  ranged.PutText("type", "object")
      .Put("additionalProperties", range)
      .Put("minProperties", "1");
  const std::string several = ranged.Text();
  const std::string one = ranged.Put("maxProperties", "1").Text();
  const std::string list = JsonObject()
                               .PutText("type", "array")
                               .Put("items", AnyOf({name, one}))
                               .Put("minItems", "1")
                               .Text();
  const std::string words =
      key == "objective"
          ? "A metric whose better side is common knowledge: accuracy, loss."
          : absl::StrCat("The metric to ", key,
                         ", a list of them, or one with its range: ",
                         "{reward: [0, 1]}.");
  return JsonObject()
      .PutText("description", words)
      .Put("anyOf", JsonList({name, several, list}))
      .Text();
}

std::string FileProperties(SchemaDefinitions* definitions) {
  JsonObject properties;
  properties.Put("id", JsonObject()
                           .PutText("description",
                                    "The study's id; without it the file's "
                                    "name without .yaml.")
                           .Put("type", R"(["string","number","boolean"])")
                           .Text());
  properties.Put("trainer",
                 JsonObject()
                     .PutText("description",
                              "The trainer that the study is for, as its "
                              "workers name it: train.py.")
                     .Put("type", R"(["string","number","boolean"])")
                     .Text());
  for (const std::string& key : ObjectiveKeys()) {
    properties.Put(key, ObjectiveSchema(key, definitions));
  }
  const std::string bound = R"({"type":"string","pattern":"<="})";
  properties.Put(
      kConstraintKey,
      JsonObject()
          .PutText(
              "description",
              "Instead of constraints: peak_memory_mib <= 8000, or a list.")
          .Put("anyOf", absl::StrCat("[", bound, R"(,{"type":"array","items":)",
                                     bound, "}]"))
          .Text());
  definitions->AddProperties(*v1::StudySpec::descriptor(), &properties);
  definitions->AddProperties(*v1::StudySettings::descriptor(), &properties);
  return properties.Text();
}

void BreakLine(int depth, std::string* text) {
  absl::StrAppend(text, "\n",
                  std::string(static_cast<std::size_t>(2 * depth), ' '));
}

}  // namespace

std::string IndentJson(const std::string& json) {
  std::string text;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char sign = json[i];
    if (in_string || sign == '"') {
      text += sign;
      if (sign == '\\') text += json[++i];
      if (sign == '"') in_string = !in_string;
      continue;
    }
    const bool opens = sign == '{' || sign == '[';
    const bool closes = sign == '}' || sign == ']';
    const bool is_empty = closes && (json[i - 1] == '{' || json[i - 1] == '[');
    if (closes) --depth;
    if (closes && !is_empty) BreakLine(depth, &text);
    text += sign;
    if (opens) ++depth;
    const bool has_more = opens && json[i + 1] != '}' && json[i + 1] != ']';
    if (has_more || sign == ',') BreakLine(depth, &text);
    if (sign == ':') text += ' ';
  }
  return text + "\n";
}

std::string StudyFileSchema() {
  SchemaDefinitions definitions(SchemaForm::kStudyFile);
  const std::string properties = FileProperties(&definitions);
  std::vector<std::string> objectives = {Requires(kObjectives)};
  std::vector<std::string> rules;
  for (const std::string& key : ObjectiveKeys()) {
    objectives.push_back(Requires(key));
    rules.push_back(Exclusive({kObjectives, key}).front());
  }
  JsonObject schema;
  schema.PutText("$schema", kDraft)
      .PutText("title", "A study file of Frostline")
      .PutText("type", "object")
      .Put("properties", properties)
      .Put("additionalProperties", "false")
      .Put("required", R"(["space","budget"])")
      .Put("anyOf", JsonList(objectives))
      .Put("allOf", JsonList(rules))
      .Put("$defs", definitions.Json());
  return IndentJson(schema.Text());
}

std::string MessageSchema(const google::protobuf::Descriptor& type) {
  SchemaDefinitions definitions(SchemaForm::kJson);
  (void)definitions.Message(type);  // and all that it holds
  JsonObject schema;
  schema.PutText("$schema", kDraft)
      .PutText("title", absl::StrCat(ShortNameOf(type), " of Frostline"))
      .PutText("$ref", "#/$defs/" + ShortNameOf(type))
      .Put("$defs", definitions.Json());
  return IndentJson(schema.Text());
}

}  // namespace frostline::cli
