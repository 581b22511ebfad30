// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/exported_config.h"

#include "base/plain/json.h"
#include "base/plain/text.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/model_config.h"

namespace frostline::trainer {
namespace {

constexpr char kFix[] =
    "name a folder that training.extra.export wrote, or a fine-tuned model "
    "that transformers saved";

// Returns the first architecture's name, or "".
std::string ArchitectureOf(const JsonValue& root) {
  const JsonValue* const all = root.Find("architectures");
  if (all == nullptr || !all->is(JsonKind::kArray) || all->first == nullptr) {
    return "";
  }
  return std::string(all->first->text);
}

// Returns the names of the classes. transformers leaves them out for two
// classes without names.
Expected<std::vector<std::string>> LabelsOf(const JsonValue& root) {
  const JsonValue* const named = root.Find("id2label");
  if (named == nullptr) return std::vector<std::string>{"LABEL_0", "LABEL_1"};
  std::vector<std::string> labels = NamesOfClasses(*named);
  if (!labels.empty()) return labels;
  return Fault{FaultKind::kInconsistent,
               "config.json: \"id2label\" does not name the classes 0, 1, …",
               "save the model again with a name for each class"};
}

}  // namespace

Expected<ExportedFacts> ReadExportedFacts(std::string_view config_json) {
  const Expected<Json> json = Json::Parse(config_json);
  if (!json.ok()) {
    return Fault{json.fault().kind, "config.json: " + json.fault().cause, kFix};
  }
  const JsonValue& root = json.value().root();
  const std::string architecture = ArchitectureOf(root);
  ExportedFacts facts;
  if (architecture.ends_with("ForTokenClassification")) {
    facts.task = Task::kTokens;
  } else if (architecture.ends_with("ForCausalLM")) {
    facts.task = Task::kAnswers;
  } else if (!architecture.ends_with("ForSequenceClassification")) {
    return Fault{
        FaultKind::kUnsupported,
        "config.json: the model answers nothing: its architecture is " +
            Shown(architecture),
        kFix};
  }
  ConfigMembers members(root);
  std::vector<std::string> labels;
  if (facts.task != Task::kAnswers) {
    ASSIGN_OR_FAULT(labels, LabelsOf(root));
  }
  const bool numbers =
      facts.task == Task::kSequence &&
      (members.Text("problem_type", "") == "regression" || labels.size() == 1);
  if (numbers) {
    facts.task = Task::kRegression;
  } else if (facts.task != Task::kAnswers) {
    facts.labels = std::move(labels);
  }
  ConfigMembers texts = members.Within(kTextsMember);
  facts.texts.max_length = texts.CountOr("max_length", 0, kMaxPositions, 0);
  facts.texts.lowercase = texts.Flag("lowercase", false);
  facts.texts.strip_accents = texts.Flag("strip_accents", false);
  facts.texts.chat = texts.Flag("chat", false);
  for (const ConfigMembers* each : {&members, &texts}) {
    if (each->fault()) return *each->fault();
  }
  return facts;
}

std::string TextsMember(const TextReading& texts) {
  if (texts.max_length == 0) return "";
  const auto flag = [](bool is) { return is ? "true" : "false"; };
  return std::string(",\n  \"") + kTextsMember +
         "\": {\"max_length\": " + std::to_string(texts.max_length) +
         ", \"lowercase\": " + flag(texts.lowercase) +
         ", \"strip_accents\": " + flag(texts.strip_accents) +
         (texts.chat ? ", \"chat\": true}" : "}");
}

}  // namespace frostline::trainer
