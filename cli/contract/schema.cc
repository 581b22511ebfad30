// SPDX-License-Identifier: Apache-2.0
#include "cli/contract/schema.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/plain/json.h"
#include "cli/contract/catalogue.h"
#include "cli/contract/schema_definitions.h"
#include "cli/contract/schema_value.h"
#include "cli/study_file/objective_sugar.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {
namespace {

constexpr char kDraft[] = "https://json-schema.org/draft/2020-12/schema";
constexpr char kObjectives[] = "objectives";

std::string Requires(const std::string& key) {
  return SchemaObject().Put("required", SchemaList({JsonString(key)})).Json();
}

// A metric's name; or names with their ranges; or a list of both.
std::string ObjectiveSchema(const std::string& key,
                            SchemaDefinitions* definitions) {
  const std::string range =
      definitions->Message(*v1::MetricRange::descriptor());
  const std::string name =
      SchemaObject().Put("type", R"(["string","number","boolean"])").Json();
  SchemaObject ranged;
  ranged.PutText("type", "object")
      .Put("additionalProperties", range)
      .Put("minProperties", "1");
  const std::string several = ranged.Json();
  const std::string one = ranged.Put("maxProperties", "1").Json();
  const std::string list = SchemaObject()
                               .PutText("type", "array")
                               .Put("items", AnyOf({name, one}))
                               .Put("minItems", "1")
                               .Json();
  const std::string words =
      key == "objective"
          ? "A metric whose better side is common knowledge: accuracy, loss."
          : absl::StrCat("The metric to ", key,
                         ", a list of them, or one with its range: ",
                         "{reward: [0, 1]}.");
  return SchemaObject()
      .PutText("description", words)
      .Put("anyOf", SchemaList({name, several, list}))
      .Json();
}

std::string FileProperties(SchemaDefinitions* definitions) {
  SchemaObject properties;
  properties.Put("id", SchemaObject()
                           .PutText("description",
                                    "The study's id; without it the file's "
                                    "name without .yaml.")
                           .Put("type", R"(["string","number","boolean"])")
                           .Json());
  for (const std::string& key : ObjectiveKeys()) {
    properties.Put(key, ObjectiveSchema(key, definitions));
  }
  definitions->AddProperties(*v1::StudySpec::descriptor(), &properties);
  definitions->AddProperties(*v1::StudySettings::descriptor(), &properties);
  return properties.Json();
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
  SchemaObject schema;
  schema.PutText("$schema", kDraft)
      .PutText("title", "A study file of Frostline")
      .PutText("type", "object")
      .Put("properties", properties)
      .Put("additionalProperties", "false")
      .Put("required", R"(["space","budget"])")
      .Put("anyOf", SchemaList(objectives))
      .Put("allOf", SchemaList(rules))
      .Put("$defs", definitions.Json());
  return IndentJson(schema.Json());
}

std::string MessageSchema(const google::protobuf::Descriptor& type) {
  SchemaDefinitions definitions(SchemaForm::kJson);
  (void)definitions.Message(type);  // and all that it holds
  SchemaObject schema;
  schema.PutText("$schema", kDraft)
      .PutText("title", absl::StrCat(ShortNameOf(type), " of Frostline"))
      .PutText("$ref", "#/$defs/" + ShortNameOf(type))
      .Put("$defs", definitions.Json());
  return IndentJson(schema.Json());
}

}  // namespace frostline::cli
