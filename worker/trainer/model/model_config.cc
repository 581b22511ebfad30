// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/model_config.h"

#include <optional>
#include <utility>

#include "base/plain/json.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

// Takes members by name and type; keeps the first that does not fit.
class Members {
 public:
  explicit Members(const JsonValue& root) : root_(root) {}

  // A whole number from `lowest` to `highest`; it must be there.
  std::int64_t Count(std::string_view name, std::int64_t lowest,
                     std::int64_t highest) {
    const JsonValue* value = Find(name);
    const std::optional<std::int32_t> whole =
        value == nullptr ? std::nullopt : value->Index();
    if (!whole || *whole < lowest || *whole > highest) {
      Fail(FaultKind::kInconsistent,
           "\"" + std::string(name) + "\" must be a whole number from " +
               std::to_string(lowest) + " to " + std::to_string(highest));
      return highest;
    }
    return *whole;
  }

  // In [0, below).
  double Number(std::string_view name, double below, double otherwise) {
    const JsonValue* value = Find(name);
    if (value == nullptr) return otherwise;
    if (!value->is(JsonKind::kNumber) || value->number < 0.0 ||
        value->number >= below) {
      Fail(FaultKind::kInconsistent,
           "\"" + std::string(name) + "\" must be a number from 0 to below " +
               std::to_string(below));
      return otherwise;
    }
    return value->number;
  }

  std::string Text(std::string_view name, std::string_view otherwise) {
    const JsonValue* value = Find(name);
    if (value == nullptr) return std::string(otherwise);
    if (value->is(JsonKind::kString)) return std::string(value->text);
    Fail(FaultKind::kInconsistent,
         "\"" + std::string(name) + "\" must be a string");
    return std::string(otherwise);
  }

  // Null when it is absent or null.
  const JsonValue* Find(std::string_view name) const {
    const JsonValue* value = root_.Find(name);
    return value == nullptr || value->is(JsonKind::kNull) ? nullptr : value;
  }

  void Fail(FaultKind kind, const std::string& what) {
    if (fault_) return;
    fault_ = Fault{kind, "config.json: " + what,
                   "take the config.json that was published with the weights "
                   "of a BERT, DistilBERT, RoBERTa or XLM-R model"};
  }

  const std::optional<Fault>& fault() const { return fault_; }

 private:
  const JsonValue& root_;
  std::optional<Fault> fault_;
};

void ReadFamily(Members& members, ModelConfig& config) {
  config.model_type = members.Text("model_type", "");
  if (config.model_type == "bert") {
    config.family = Family::kBert;
  } else if (config.model_type == "distilbert") {
    config.family = Family::kDistilBert;
  } else if (config.model_type == "roberta" ||
             config.model_type == "xlm-roberta") {
    config.family = Family::kRoberta;
  } else {
    members.Fail(FaultKind::kUnsupported,
                 "the model_type \"" + config.model_type + "\" is not known");
  }
}

void ReadActivation(const std::string& name, Members& members,
                    ModelConfig& config) {
  if (name == "gelu") {
    config.activation = Activation::kGelu;
  } else if (name == "gelu_new" || name == "gelu_pytorch_tanh") {
    config.activation = Activation::kGeluTanh;
  } else if (name == "relu") {
    config.activation = Activation::kRelu;
  } else {
    members.Fail(FaultKind::kUnsupported,
                 "the activation \"" + name + "\" is not known");
  }
}

void ReadBert(Members& members, ModelConfig& config) {
  config.hidden = members.Count("hidden_size", 1, kMaxWidth);
  config.layers = members.Count("num_hidden_layers", 1, kMaxLayers);
  config.heads = members.Count("num_attention_heads", 1, kMaxWidth);
  config.feed_forward = members.Count("intermediate_size", 1, kMaxWidth);
  config.types = members.Count("type_vocab_size", 1, kMaxVocabulary);
  config.norm_epsilon = members.Number("layer_norm_eps", 1.0, 1e-12);
  config.hidden_dropout = members.Number("hidden_dropout_prob", 1.0, 0.1);
  config.attention_dropout =
      members.Number("attention_probs_dropout_prob", 1.0, 0.1);
  config.sequence_dropout =
      members.Number("classifier_dropout", 1.0, config.hidden_dropout);
  config.token_dropout = config.sequence_dropout;
  ReadActivation(members.Text("hidden_act", "gelu"), members, config);
}

// Has no token types, a fixed epsilon, and its own words for the rest.
void ReadDistilBert(Members& members, ModelConfig& config) {
  config.hidden = members.Count("dim", 1, kMaxWidth);
  config.layers = members.Count("n_layers", 1, kMaxLayers);
  config.heads = members.Count("n_heads", 1, kMaxWidth);
  config.feed_forward = members.Count("hidden_dim", 1, kMaxWidth);
  config.norm_epsilon = 1e-12;
  config.hidden_dropout = members.Number("dropout", 1.0, 0.1);
  config.attention_dropout = members.Number("attention_dropout", 1.0, 0.1);
  config.sequence_dropout = members.Number("seq_classif_dropout", 1.0, 0.2);
  config.token_dropout = config.hidden_dropout;
  ReadActivation(members.Text("activation", "gelu"), members, config);
}

void ReadLabels(Members& members, ModelConfig& config) {
  const JsonValue* labels = members.Find("id2label");
  if (labels == nullptr || !labels->is(JsonKind::kObject) ||
      labels->count > kMaxOutputs) {
    return;
  }
  for (std::uint32_t id = 0; id < labels->count; ++id) {
    const JsonValue* label = labels->Find(std::to_string(id));
    if (label == nullptr || !label->is(JsonKind::kString)) {
      config.labels.clear();  // not dense: of no use to us
      return;
    }
    config.labels.emplace_back(label->text);
  }
}

void Check(Members& members, const ModelConfig& config) {
  if (members.Text("position_embedding_type", "absolute") != "absolute") {
    members.Fail(FaultKind::kUnsupported,
                 "position_embedding_type is not \"absolute\"");
  }
  const JsonValue* decoder = members.Find("is_decoder");
  if (decoder != nullptr && decoder->truth) {
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

Expected<ModelConfig> ReadModelConfig(std::string_view json) {
  Expected<Json> parsed = Json::Parse(json);
  if (!parsed.ok()) {
    return Fault{parsed.fault().kind, "config.json: " + parsed.fault().cause,
                 "copy the model's config.json again"};
  }
  Members members(parsed.value().root());
  ModelConfig config;
  ReadFamily(members, config);
  if (members.fault()) return *members.fault();
  config.vocabulary = members.Count("vocab_size", 1, kMaxVocabulary);
  config.positions = members.Count("max_position_embeddings", 1, kMaxPositions);
  config.pad_id = config.family == Family::kRoberta ? 1 : 0;
  if (members.Find("pad_token_id") != nullptr) {
    config.pad_id = members.Count("pad_token_id", 0, kMaxVocabulary);
  }
  config.initializer_range = members.Number("initializer_range", 10.0, 0.02);
  if (config.family == Family::kDistilBert) {
    ReadDistilBert(members, config);
  } else {
    ReadBert(members, config);
  }
  ReadLabels(members, config);
  Check(members, config);
  if (members.fault()) return *members.fault();
  return config;
}

}  // namespace frostline::trainer
