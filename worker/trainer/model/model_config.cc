// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model_config.h"

#include <algorithm>

#include "base/plain/json.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

// Returns null, and a fault, for another model_type.
const FamilyRules* ReadFamily(ConfigMembers& members, ModelConfig& config) {
  config.model_type = members.Text("model_type", "");
  const auto known = std::ranges::find(KnownModels(), config.model_type,
                                       &KnownModel::model_type);
  if (known == KnownModels().end()) {
    members.Fail(FaultKind::kUnsupported,
                 "the model_type \"" + config.model_type + "\" is not known");
    return nullptr;
  }
  config.family = known->family;
  return &RulesOf(known->family);
}

void ReadAdapters(ConfigMembers& members, SavedAdapters adapters,
                  ModelConfig& config) {
  if (members.Find("frostline_adapters") == nullptr) return;
  if (adapters == SavedAdapters::kRefuse) {
    members.Fail(FaultKind::kUnsupported,
                 "it has bottleneck adapters, which cannot be trained further");
    return;
  }
  ConfigMembers saved = members.Within("frostline_adapters");
  config.bottleneck.size = saved.Count("size", 1, config.hidden);
  const std::string activation = saved.Text("activation", "gelu");
  config.bottleneck.relu = activation == "relu";
  if (saved.fault()) {
    members.Fail(saved.fault()->kind, "frostline_adapters has no fit size");
  } else if (!config.bottleneck.relu && activation != "gelu") {
    members.Fail(FaultKind::kUnsupported,
                 "the activation of its adapters is \"" + activation + "\"");
  }
}

void CheckConfig(ConfigMembers& members, const ModelConfig& config) {
  if (members.Flag("is_decoder", false)) {
    members.Fail(FaultKind::kUnsupported, "it is a decoder");
  }
  if (config.heads > 0 && config.hidden % config.heads != 0) {
    members.Fail(FaultKind::kInconsistent,
                 "the hidden size is no multiple of the attention heads");
  }
  if (config.pad_id >= config.vocabulary || config.longest_text() < 1) {
    members.Fail(FaultKind::kInconsistent,
                 "pad_token_id leaves no token or no position");
  }
}

}  // namespace

Expected<ModelConfig> ReadModelConfig(std::string_view json,
                                      SavedAdapters adapters) {
  Expected<Json> parsed = Json::Parse(json);
  if (!parsed.ok()) {
    return Fault{parsed.fault().kind, "config.json: " + parsed.fault().cause,
                 "copy the model's config.json again"};
  }
  ConfigMembers members(parsed.value().root());
  ModelConfig config;
  const FamilyRules* rules = ReadFamily(members, config);
  if (rules == nullptr) return *members.fault();
  config.vocabulary = members.Count("vocab_size", 1, kMaxVocabulary);
  config.positions = members.Count("max_position_embeddings", 1, kMaxPositions);
  config.pad_id =
      members.CountOr("pad_token_id", 0, kMaxVocabulary, rules->UsualPadId());
  config.initializer_range = members.Number("initializer_range", 10.0, 0.02);
  rules->Read(members, config);
  if (const JsonValue* labels = members.Find("id2label")) {
    config.labels = NamesOfClasses(*labels);
  }
  ReadAdapters(members, adapters, config);
  CheckConfig(members, config);
  if (members.fault()) return *members.fault();
  return config;
}

}  // namespace frostline::trainer
