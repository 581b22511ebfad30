// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_record.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/json_text.h"
#include "base/status_macros.h"

namespace frostline::cli {
namespace {

using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr char kVersionKey[] = "frostline_recipe_report";
constexpr int kVersion = 1;

absl::Status NoRecord(const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("this is no record of a recipe's run: ", why),
                   "make one with `frostline report RUN -o FILE.json`");
}

absl::StatusOr<std::string> JsonOf(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto written =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  if (!written.ok()) return NoRecord(std::string(written.message()));
  return json;
}

std::string TextOf(const Struct& all, const std::string& key) {
  const auto found = all.fields().find(key);
  return found == all.fields().end() ? "" : found->second.string_value();
}

absl::StatusOr<v1::TrialComparison> ReadComparison(const Value& value) {
  ASSIGN_OR_RETURN(const std::string json, JsonOf(value));
  v1::TrialComparison comparison;
  const auto read =
      google::protobuf::util::JsonStringToMessage(json, &comparison);
  if (!read.ok()) return NoRecord(std::string(read.message()));
  return comparison;
}

absl::StatusOr<StageRecord> ReadStage(const Value& value) {
  const auto& fields = value.struct_value().fields();
  const auto study = fields.find("study");
  if (study == fields.end()) return NoRecord("a stage has no study");
  StageRecord stage;
  ASSIGN_OR_RETURN(const std::string study_json, JsonOf(study->second));
  ASSIGN_OR_RETURN(stage.study, ReadRecord(study_json));
  const auto comparison = fields.find("comparison");
  if (comparison == fields.end()) return stage;
  ASSIGN_OR_RETURN(stage.comparison, ReadComparison(comparison->second));
  return stage;
}

absl::Status ReadAcross(const Struct& all, RecipeRecord& record) {
  const auto across = all.fields().find("across");
  if (across != all.fields().end()) {
    for (const Value& value : across->second.list_value().values()) {
      const Struct& one = value.struct_value();
      const auto comparison = one.fields().find("comparison");
      if (comparison == one.fields().end()) return NoRecord("nothing across");
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

absl::Status CheckVersion(const Struct& all) {
  const auto found = all.fields().find(kVersionKey);
  if (found == all.fields().end()) {
    return NoRecord(absl::StrCat("it has no \"", kVersionKey, "\""));
  }
  if (found->second.number_value() <= kVersion) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   "the record is of a later version of Frostline",
                   "read it with that version, or make it again with this one");
}

}  // namespace

std::string ToText(const RecipeRecord& record) {
  std::string text = absl::StrCat(
      "{\"", kVersionKey, "\": ", kVersion,
      ",\n\"run\": ", JsonString(record.run),
      ",\n\"recipe_file\": ", JsonString(record.recipe_file),
      ",\n\"recipe\": ", JsonString(record.recipe_text), ",\n\"stages\": [");
  bool is_first = true;
  for (const StageRecord& stage : record.stages) {
    absl::StrAppend(&text, is_first ? "" : ",\n",
                    "{\"study\": ", ToText(stage.study));
    is_first = false;
    if (stage.comparison) {
      const auto json = JsonOf(*stage.comparison);
      if (json.ok()) absl::StrAppend(&text, ",\n\"comparison\": ", *json);
    }
    absl::StrAppend(&text, "}");
  }
  absl::StrAppend(&text, "],\n\"across\": [");
  is_first = true;
  for (const AcrossRecord& across : record.across) {
    const auto json = JsonOf(across.comparison);
    if (!json.ok()) continue;
    absl::StrAppend(&text, is_first ? "" : ",\n",
                    "{\"stage\": ", JsonString(across.stage),
                    ", \"run\": ", JsonString(across.run),
                    ", \"comparison\": ", *json, "}");
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
  return absl::StartsWith(text, absl::StrCat("{\"", kVersionKey, "\""));
}

absl::StatusOr<RecipeRecord> ReadRecipeRecord(const std::string& text) {
  Struct all;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &all);
  if (!parsed.ok()) return NoRecord(std::string(parsed.message()));
  RETURN_IF_ERROR(CheckVersion(all));
  RecipeRecord record;
  record.run = TextOf(all, "run");
  record.recipe_file = TextOf(all, "recipe_file");
  record.recipe_text = TextOf(all, "recipe");
  const auto stages = all.fields().find("stages");
  if (stages == all.fields().end()) return NoRecord("it has no stages");
  for (const Value& value : stages->second.list_value().values()) {
    ASSIGN_OR_RETURN(StageRecord stage, ReadStage(value));
    record.stages.push_back(std::move(stage));
  }
  RETURN_IF_ERROR(ReadAcross(all, record));
  return record;
}

}  // namespace frostline::cli
