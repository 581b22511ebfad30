// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_record.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/report/record_json.h"

namespace frostline::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const RecordKind& RecipeKind() {
  static const auto* const kKind =
      new RecordKind{"frostline_recipe_report", 1, "a recipe's run",
                     "frostline report RUN -o FILE.json"};
  return *kKind;
}

absl::Status NoRecipeRecord(const std::string& why) {
  return cli::NoRecord(RecipeKind(), why);
}

std::string TextOf(const Struct& all, const std::string& key) {
  const auto found = all.fields().find(key);
  return found == all.fields().end() ? "" : found->second.string_value();
}

absl::StatusOr<v1::TrialComparison> ReadComparison(const Value& value) {
  v1::TrialComparison comparison;
  RETURN_IF_ERROR(ReadRecordPart(RecipeKind(), value, comparison));
  return comparison;
}

absl::StatusOr<StageRecord> ReadRecordedStage(const Value& value) {
  const auto& fields = value.struct_value().fields();
  const auto study = fields.find("study");
  if (study == fields.end()) return NoRecipeRecord("a stage has no study");
  StageRecord stage;
  ASSIGN_OR_RETURN(stage.study, ReadRecord(RecordJson(study->second)));
  const auto comparison = fields.find("comparison");
  if (comparison == fields.end()) return stage;
  ASSIGN_OR_RETURN(stage.comparison, ReadComparison(comparison->second));
  return stage;
}

absl::Status ReadRecordedAcross(const Struct& all, RecipeRecord& record) {
  const auto across = all.fields().find("across");
  if (across != all.fields().end()) {
    for (const Value& value : across->second.list_value().values()) {
      const Struct& one = value.struct_value();
      const auto comparison = one.fields().find("comparison");
      if (comparison == one.fields().end())
        return NoRecipeRecord("nothing across");
      AcrossRecord& read = record.across.emplace_back();
      read.stage = TextOf(one, "stage");
      read.run = TextOf(one, "run");
      ASSIGN_OR_RETURN(read.comparison, ReadComparison(comparison->second));
    }
  }
  const auto missing = all.fields().find("missing");
  if (missing == all.fields().end()) return absl::OkStatus();
  for (const Value& value : missing->second.list_value().values()) {
    record.missing.push_back(value.string_value());
  }
  return absl::OkStatus();
}

}  // namespace

std::string ToText(const RecipeRecord& record) {
  std::string text = absl::StrCat(
      "{\"", RecipeKind().version_key, "\": ", RecipeKind().version,
      ",\n\"run\": ", JsonString(record.run),
      ",\n\"recipe_file\": ", JsonString(record.recipe_file),
      ",\n\"recipe\": ", JsonString(record.recipe_text), ",\n\"stages\": [");
  bool is_first = true;
  for (const StageRecord& stage : record.stages) {
    absl::StrAppend(&text, is_first ? "" : ",\n",
                    "{\"study\": ", ToText(stage.study));
    is_first = false;
    if (stage.comparison) {
      absl::StrAppend(&text,
                      ",\n\"comparison\": ", RecordJson(*stage.comparison));
    }
    absl::StrAppend(&text, "}");
  }
  absl::StrAppend(&text, "],\n\"across\": [");
  is_first = true;
  for (const AcrossRecord& across : record.across) {
    absl::StrAppend(&text, is_first ? "" : ",\n",
                    "{\"stage\": ", JsonString(across.stage),
                    ", \"run\": ", JsonString(across.run),
                    ", \"comparison\": ", RecordJson(across.comparison), "}");
    is_first = false;
  }
  absl::StrAppend(&text, "],\n\"missing\": [");
  is_first = true;
  for (const std::string& sentence : record.missing) {
    absl::StrAppend(&text, is_first ? "" : ", ", JsonString(sentence));
    is_first = false;
  }
  return absl::StrCat(text, "]}\n");
}

bool IsRecipeRecord(const std::string& text) {
  return absl::StartsWith(text,
                          absl::StrCat("{\"", RecipeKind().version_key, "\""));
}

absl::StatusOr<RecipeRecord> ReadRecipeRecord(const std::string& text) {
  ASSIGN_OR_RETURN(const Struct all, ReadRecordStruct(RecipeKind(), text));
  RecipeRecord record;
  record.run = TextOf(all, "run");
  record.recipe_file = TextOf(all, "recipe_file");
  record.recipe_text = TextOf(all, "recipe");
  const auto stages = all.fields().find("stages");
  if (stages == all.fields().end()) return NoRecipeRecord("it has no stages");
  for (const Value& value : stages->second.list_value().values()) {
    ASSIGN_OR_RETURN(StageRecord stage, ReadRecordedStage(value));
    record.stages.push_back(std::move(stage));
  }
  RETURN_IF_ERROR(ReadRecordedAcross(all, record));
  return record;
}

}  // namespace frostline::cli
