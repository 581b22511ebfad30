// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model_config.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/plain/json.h"
#include "base/plain/training_table.h"
#include "worker/trainer/model/family.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {

std::string DownNameOf(const std::string& linear) {
  return linear + ".adapter.down";
}

std::string UpNameOf(const std::string& linear) {
  return linear + ".adapter.up";
}

Expected<Done> CheckBottleneck(const BottleneckSpec& spec,
                               std::int64_t hidden) {
  if (spec.size <= hidden) return Done{};
  return Fault{
      FaultKind::kMisuse,
      "training.adapters.size is " + std::to_string(spec.size) +
          ", and hidden states have " + std::to_string(hidden),
      "give a size of 1 to " + std::to_string(hidden) + "; 8 to 256 are usual"};
}

namespace {

using enum LoraPart;
constexpr std::array<std::pair<std::string_view, LoraPart>, 8> kNames = {
    {{"query", kQuery},
     {"key", kKey},
     {"value", kValue},
     {"attention_out", kAttentionOut},
     {"ffn_in", kFeedForwardIn},
     {"ffn_out", kFeedForwardOut},
     {"ffn_gate", kFeedForwardGate},
     {"qkv", kQueryKeyValue}}};

}  // namespace

bool IsFeedForward(LoraPart part) {
  return part == kFeedForwardIn || part == kFeedForwardOut ||
         part == kFeedForwardGate;
}

std::int64_t LoraSpec::RankOf(LoraPart part, std::int64_t layer) const {
  if (!parts.contains(part)) return 0;
  if (ranks.empty()) return rank;
  const std::string whole = "layer." + std::to_string(layer);
  auto found =
      ranks.find(whole + (IsFeedForward(part) ? ".ffn" : ".attention"));
  if (found == ranks.end()) found = ranks.find(whole);
  return found == ranks.end() ? 0 : found->second;
}

double LoraSpec::ScaleOf(std::int64_t its_rank) const {
  if (alpha_per_rank > 0.0) return alpha_per_rank;
  return alpha > 0.0 ? alpha / static_cast<double>(its_rank) : 1.0;
}

std::optional<LoraPart> LoraPartOf(std::string_view name) {
  const std::span<const LoraWord> words = LoraWords();
  const auto word = std::ranges::find(words, name, &LoraWord::word);
  if (word == words.end()) return std::nullopt;
  for (const auto& [known, part] : kNames) {
    if (known == word->map) return part;
  }
  return std::nullopt;
}

std::string_view NameOf(LoraPart part) {
  const auto named = [part](const auto& each) { return each.second == part; };
  return std::ranges::find_if(kNames, named)->first;
}

std::string LoraPartNames() {
  std::string all;
  for (const auto& [name, part] : kNames) {
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return all;
}

Expected<Done> CheckLora(const LoraSpec& lora, std::int64_t hidden,
                         std::int64_t feed_forward) {
  const auto check = [&](std::int64_t rank, const std::string& said,
                         bool attention, bool behind) -> Expected<Done> {
    const bool on_attention =
        attention && !std::ranges::all_of(lora.parts, IsFeedForward);
    const bool on_feed_forward =
        behind && std::ranges::any_of(lora.parts, IsFeedForward);
    if (rank > 0 && !on_attention && !on_feed_forward) {
      return Fault{
          FaultKind::kMisuse,
          said + " is " + std::to_string(rank) +
              ", and training.lora.modules names none of its maps",
          "name some under training.lora.modules, e.g. " +
              std::string(behind ? "ffn_in, ffn_out" : "query, value")};
    }
    // Every map has one side as wide as the hidden states.
    const std::int64_t most =
        on_feed_forward ? std::min(hidden, feed_forward) : hidden;
    if (rank <= most) return Done{};
    return Fault{
        FaultKind::kMisuse,
        said + " is " + std::to_string(rank) +
            ", and the maps it adapts have no more than " +
            std::to_string(most),
        "give a rank of 1 to " + std::to_string(most) + "; 4 to 64 are usual"};
  };
  for (const auto& [module, rank] : lora.ranks) {
    RETURN_IF_FAULT(check(rank, "the rank of " + module,
                          !module.ends_with(".ffn"),
                          !module.ends_with(".attention")));
  }
  return check(lora.rank, "training.lora.rank", true, true);
}

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
  if (config.heads > 0 && config.head_width == 0 &&
      config.hidden % config.heads != 0) {
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

namespace {

std::string Quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

}  // namespace

std::int64_t ConfigMembers::Count(std::string_view name, std::int64_t lowest,
                                  std::int64_t highest) {
  const JsonValue* value = Find(name);
  const std::optional<std::int32_t> whole =
      value == nullptr ? std::nullopt : value->Index();
  if (!whole || *whole < lowest || *whole > highest) {
    Fail(FaultKind::kInconsistent,
         Quoted(name) + " must be a whole number from " +
             std::to_string(lowest) + " to " + std::to_string(highest));
    return highest;
  }
  return *whole;
}

std::int64_t ConfigMembers::CountOr(std::string_view name, std::int64_t lowest,
                                    std::int64_t highest,
                                    std::int64_t otherwise) {
  return Find(name) == nullptr ? otherwise : Count(name, lowest, highest);
}

double ConfigMembers::Number(std::string_view name, double below,
                             double otherwise) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (!value->is(JsonKind::kNumber) || value->number < 0.0 ||
      value->number >= below) {
    Fail(FaultKind::kInconsistent, Quoted(name) +
                                       " must be a number from 0 to below " +
                                       std::to_string(below));
    return otherwise;
  }
  return value->number;
}

std::string ConfigMembers::Text(std::string_view name,
                                std::string_view otherwise) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is(JsonKind::kString)) return std::string(value->text);
  Fail(FaultKind::kInconsistent, Quoted(name) + " must be a string");
  return std::string(otherwise);
}

bool ConfigMembers::Flag(std::string_view name, bool otherwise) {
  const JsonValue* value = Find(name);
  if (value == nullptr) return otherwise;
  if (value->is(JsonKind::kBool)) return value->truth;
  Fail(FaultKind::kInconsistent, Quoted(name) + " must be true or false");
  return otherwise;
}

Activation ConfigMembers::ActivationOf(std::string_view name,
                                       std::string_view otherwise) {
  constexpr std::array<std::pair<std::string_view, Activation>, 6> kKnown = {
      {{"gelu", Activation::kGelu},
       {"gelu_new", Activation::kGeluTanh},
       {"gelu_pytorch_tanh", Activation::kGeluTanh},
       {"relu", Activation::kRelu},
       {"silu", Activation::kSilu},
       {"tanh", Activation::kTanh}}};
  const std::string wanted = Text(name, otherwise);
  for (const auto& [known, activation] : kKnown) {
    if (known == wanted) return activation;
  }
  Fail(FaultKind::kUnsupported,
       "the activation " + Quoted(wanted) + " is not known");
  return Activation::kGelu;
}

const JsonValue* ConfigMembers::Find(std::string_view name) const {
  const JsonValue* value = root_->Find(name);
  return value == nullptr || value->is(JsonKind::kNull) ? nullptr : value;
}

ConfigMembers ConfigMembers::Within(std::string_view name) const {
  static const JsonValue kNothing;
  const JsonValue* value = Find(name);
  return ConfigMembers(value == nullptr ? kNothing : *value);
}

void ConfigMembers::MustBe(std::string_view name, std::string_view only,
                           std::string_view usual) {
  if (Text(name, usual) == only) return;
  Fail(FaultKind::kUnsupported, std::string(name) + " is not " + Quoted(only));
}

void ConfigMembers::Fail(FaultKind kind, const std::string& what) {
  if (fault_) return;
  fault_ = Fault{kind, "config.json: " + what,
                 "take the config.json that was published with the weights of "
                 "a BERT, DistilBERT, RoBERTa, XLM-R, ELECTRA, ModernBERT, "
                 "DeBERTa-v3, Llama 3, SmolLM2, Qwen2 or Qwen3 model; any "
                 "other is trained by a script of yours "
                 "(docs/how-to/your-trainer.md)"};
}

std::vector<std::string> NamesOfClasses(const JsonValue& id2label) {
  std::vector<std::string> names;
  if (!id2label.is(JsonKind::kObject) || id2label.count > kMaxOutputs) {
    return names;
  }
  for (std::uint32_t id = 0; id < id2label.count; ++id) {
    const JsonValue* const name = id2label.Find(std::to_string(id));
    if (name == nullptr || !name->is(JsonKind::kString)) return {};
    names.emplace_back(name->text);
  }
  return names;
}

}  // namespace frostline::trainer
