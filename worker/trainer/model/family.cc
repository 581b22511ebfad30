// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/family.h"

#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

template <typename Rules>
const FamilyRules& Constant() {
  static const Rules kRules;
  return kRules;
}

}  // namespace

std::span<const KnownModel> KnownModels() {
  static constexpr std::array<KnownModel, 10> kKnown = {
      {{"bert", "Bert", Family::kBert},
       {"distilbert", "DistilBert", Family::kDistilBert},
       {"roberta", "Roberta", Family::kRoberta},
       {"xlm-roberta", "XLMRoberta", Family::kRoberta},
       {"electra", "Electra", Family::kElectra},
       {"modernbert", "ModernBert", Family::kModernBert},
       {"deberta-v2", "DebertaV2", Family::kDebertaV3},
       {"llama", "Llama", Family::kLlama},
       {"qwen2", "Qwen2", Family::kLlama},
       {"qwen3", "Qwen3", Family::kLlama}}};
  return kKnown;
}

const FamilyRules& RulesOf(Family family) {
  switch (family) {
    case Family::kBert:
      return Constant<BertRules>();
    case Family::kDistilBert:
      return Constant<DistilBertRules>();
    case Family::kRoberta:
      return Constant<RobertaRules>();
    case Family::kElectra:
      return Constant<ElectraRules>();
    case Family::kModernBert:
      return Constant<ModernBertRules>();
    case Family::kDebertaV3:
      return Constant<DebertaRules>();
    case Family::kLlama:
      return Constant<LlamaRules>();
  }
  return Constant<BertRules>();
}

void ListPlainLayer(const ModelConfig& config, const LayerNames& names,
                    std::int64_t layer, ParameterLister& list) {
  const std::int64_t hidden = config.hidden;
  list.At(Part::kAttention, layer);
  list.Linear(names.query, hidden, hidden, HeadAxis::kRows);
  list.Linear(names.key, hidden, hidden, HeadAxis::kRows);
  list.Linear(names.value, hidden, hidden, HeadAxis::kRows);
  list.Linear(names.attention_out, hidden, hidden, HeadAxis::kColumns);
  list.Norm(names.attention_norm, hidden);
  list.At(Part::kFeedForward, layer);
  list.Linear(names.up, config.feed_forward, hidden);
  list.Linear(names.down, hidden, config.feed_forward);
  list.Norm(names.norm, hidden);
}

namespace {

// Reads the sizes, by the names that all families but DistilBERT give them.
void ReadSizes(ConfigMembers& members, ModelConfig& config) {
  config.hidden = members.Count("hidden_size", 1, kMaxWidth);
  config.layers = members.Count("num_hidden_layers", 1, kMaxLayers);
  config.heads = members.Count("num_attention_heads", 1, kMaxWidth);
  config.feed_forward = members.Count("intermediate_size", 1, kMaxWidth);
}

// Returns a head of dropout, dense, activation, dropout and output.
HeadShape DenseClassifier(const HeadSpec& head, Activation activation) {
  HeadShape shape;
  shape.output = "classifier";
  if (head.task == Task::kTokens) return shape;
  shape.dense = "classifier.dense";
  shape.drops_before_dense = true;
  shape.dense_activation = activation;
  shape.output = "classifier.out_proj";
  return shape;
}

}  // namespace

void BertRules::Read(ConfigMembers& members, ModelConfig& config) const {
  ReadSizes(members, config);
  config.types = members.Count("type_vocab_size", 1, kMaxVocabulary);
  config.norm_epsilon = members.Number("layer_norm_eps", 1.0, 1e-12);
  config.hidden_dropout = members.Number("hidden_dropout_prob", 1.0, 0.1);
  config.attention_dropout =
      members.Number("attention_probs_dropout_prob", 1.0, 0.1);
  config.sequence_dropout =
      members.Number("classifier_dropout", 1.0, config.hidden_dropout);
  config.token_dropout = config.sequence_dropout;
  config.activation = members.ActivationOf("hidden_act", "gelu");
  members.MustBe("position_embedding_type", "absolute", "absolute");
}

void BertRules::ListEmbeddings(const ModelConfig& config,
                               ParameterLister& list) const {
  const std::string at = std::string(prefix()) + "embeddings.";
  list.At(Part::kEmbeddings, -1);
  list.Embedding(at + "word_embeddings", config.vocabulary,
                 config.table_width());
  list.Embedding(at + "position_embeddings", config.positions,
                 config.table_width());
  list.Embedding(at + "token_type_embeddings", config.types,
                 config.table_width());
  list.Norm(at + "LayerNorm", config.table_width());
}

void BertRules::ListLayer(const ModelConfig& config, std::int64_t layer,
                          ParameterLister& list) const {
  ListPlainLayer(config, NamesOf(config, layer), layer, list);
}

LayerNames BertRules::NamesOf(const ModelConfig& /*config*/,
                              std::int64_t layer) const {
  const std::string at =
      std::string(prefix()) + "encoder.layer." + std::to_string(layer) + ".";
  return {.query = at + "attention.self.query",
          .key = at + "attention.self.key",
          .value = at + "attention.self.value",
          .attention_out = at + "attention.output.dense",
          .attention_norm = at + "attention.output.LayerNorm",
          .up = at + "intermediate.dense",
          .down = at + "output.dense",
          .norm = at + "output.LayerNorm"};
}

// The pooler is there if the head reads it.
HeadShape BertRules::HeadOf(const ModelConfig& config,
                            const HeadSpec& head) const {
  HeadShape shape;
  if (ReadsFirstToken(config, head)) shape.pooler = "bert.pooler.dense";
  shape.output = "classifier";
  return shape;
}

HeadShape RobertaRules::HeadOf(const ModelConfig& /*config*/,
                               const HeadSpec& head) const {
  return DenseClassifier(head, Activation::kTanh);
}

void ElectraRules::Read(ConfigMembers& members, ModelConfig& config) const {
  BertRules::Read(members, config);
  config.embedding = members.CountOr("embedding_size", 1, kMaxWidth, 128);
}

void ElectraRules::ListEmbeddings(const ModelConfig& config,
                                  ParameterLister& list) const {
  BertRules::ListEmbeddings(config, list);
  if (config.table_width() == config.hidden) return;
  list.Linear("electra.embeddings_project", config.hidden,
              config.table_width());
}

HeadShape ElectraRules::HeadOf(const ModelConfig& /*config*/,
                               const HeadSpec& head) const {
  return DenseClassifier(head, Activation::kGelu);
}

void DistilBertRules::Read(ConfigMembers& members, ModelConfig& config) const {
  config.hidden = members.Count("dim", 1, kMaxWidth);
  config.layers = members.Count("n_layers", 1, kMaxLayers);
  config.heads = members.Count("n_heads", 1, kMaxWidth);
  config.feed_forward = members.Count("hidden_dim", 1, kMaxWidth);
  config.norm_epsilon = 1e-12;
  config.hidden_dropout = members.Number("dropout", 1.0, 0.1);
  config.attention_dropout = members.Number("attention_dropout", 1.0, 0.1);
  config.sequence_dropout = members.Number("seq_classif_dropout", 1.0, 0.2);
  config.token_dropout = config.hidden_dropout;
  config.activation = members.ActivationOf("activation", "gelu");
}

void DistilBertRules::ListEmbeddings(const ModelConfig& config,
                                     ParameterLister& list) const {
  list.At(Part::kEmbeddings, -1);
  list.Embedding("distilbert.embeddings.word_embeddings", config.vocabulary,
                 config.hidden);
  list.Embedding("distilbert.embeddings.position_embeddings", config.positions,
                 config.hidden);
  list.Norm("distilbert.embeddings.LayerNorm", config.hidden);
}

void DistilBertRules::ListLayer(const ModelConfig& config, std::int64_t layer,
                                ParameterLister& list) const {
  ListPlainLayer(config, NamesOf(config, layer), layer, list);
}

LayerNames DistilBertRules::NamesOf(const ModelConfig& /*config*/,
                                    std::int64_t layer) const {
  const std::string at =
      "distilbert.transformer.layer." + std::to_string(layer) + ".";
  return {.query = at + "attention.q_lin",
          .key = at + "attention.k_lin",
          .value = at + "attention.v_lin",
          .attention_out = at + "attention.out_lin",
          .attention_norm = at + "sa_layer_norm",
          .up = at + "ffn.lin1",
          .down = at + "ffn.lin2",
          .norm = at + "output_layer_norm"};
}

HeadShape DistilBertRules::HeadOf(const ModelConfig& /*config*/,
                                  const HeadSpec& head) const {
  HeadShape shape;
  if (head.task != Task::kTokens) shape.dense = "pre_classifier";
  shape.dense_activation = Activation::kRelu;
  shape.output = "classifier";
  return shape;
}

namespace {

// Returns a count, or `otherwise` if it is absent or -1.
std::int64_t CountIfAny(const char* name, std::int64_t otherwise,
                        ConfigMembers& members) {
  const JsonValue* value = members.Find(name);
  const bool none = value == nullptr ||
                    (value->is(JsonKind::kNumber) && value->number == -1.0);
  return none ? otherwise : members.Count(name, 2, kMaxPositions);
}

// Returns whether this is "p2c|c2p", or a list of the two.
bool AttendsBothWays(const JsonValue* kinds) {
  if (kinds == nullptr) return false;
  if (kinds->is(JsonKind::kString)) {
    return kinds->text == "p2c|c2p" || kinds->text == "c2p|p2c";
  }
  std::set<std::string_view> found;
  for (const JsonValue* at = kinds->first; at != nullptr; at = at->next) {
    found.insert(at->text);
  }
  return found == std::set<std::string_view>{"c2p", "p2c"};
}

void RefuseOtherDeberta(ConfigMembers& members, const ModelConfig& config) {
  const auto must = [&](bool holds, const char* what) {
    if (!holds) members.Fail(FaultKind::kUnsupported, what);
  };
  must(members.Flag("relative_attention", false) &&
           members.Flag("share_att_key", false) &&
           AttendsBothWays(members.Find("pos_att_type")),
       "only DeBERTa-v3 is known: relative_attention, share_att_key and "
       "pos_att_type p2c|c2p");
  must(!members.Flag("position_biased_input", true),
       "position_biased_input is not false");
  must(members.Text("norm_rel_ebd", "none") == "layer_norm",
       "norm_rel_ebd is not \"layer_norm\"");
  must(members.CountOr("conv_kernel_size", 0, kMaxWidth, 0) == 0,
       "conv_kernel_size is not 0");
  must(config.types == 0, "type_vocab_size is not 0");
  must(config.buckets == 0 || config.farthest - 1 > config.buckets / 2,
       "there are more position_buckets than distances");
  for (const char* name :
       {"embedding_size", "pooler_hidden_size", "attention_head_size"}) {
    const std::int64_t usual = std::string_view(name) == "attention_head_size"
                                   ? config.hidden / config.heads
                                   : config.hidden;
    must(members.CountOr(name, 1, kMaxWidth, usual) == usual,
         "a width differs from that of the hidden states");
  }
}

}  // namespace

void DebertaRules::Read(ConfigMembers& members, ModelConfig& config) const {
  ReadSizes(members, config);
  config.types = members.CountOr("type_vocab_size", 0, kMaxVocabulary, 0);
  config.norm_epsilon = members.Number("layer_norm_eps", 1.0, 1e-7);
  config.hidden_dropout = members.Number("hidden_dropout_prob", 1.0, 0.1);
  config.attention_dropout =
      members.Number("attention_probs_dropout_prob", 1.0, 0.1);
  config.sequence_dropout =
      members.Number("cls_dropout", 1.0, config.hidden_dropout);
  config.token_dropout = config.hidden_dropout;
  config.pooler_dropout = members.Number("pooler_dropout", 1.0, 0.0);
  config.activation = members.ActivationOf("hidden_act", "gelu");
  config.head_activation = members.ActivationOf("pooler_hidden_act", "gelu");
  config.buckets = CountIfAny("position_buckets", 0, members);
  config.farthest =
      CountIfAny("max_relative_positions", config.positions, members);
  RefuseOtherDeberta(members, config);
}

void DebertaRules::ListEmbeddings(const ModelConfig& config,
                                  ParameterLister& list) const {
  list.At(Part::kEmbeddings, -1);
  list.Embedding("deberta.embeddings.word_embeddings", config.vocabulary,
                 config.hidden);
  list.Norm("deberta.embeddings.LayerNorm", config.hidden);
  list.Embedding("deberta.encoder.rel_embeddings", 2 * config.span(),
                 config.hidden);
  list.Norm("deberta.encoder.LayerNorm", config.hidden);
}

void DebertaRules::ListLayer(const ModelConfig& config, std::int64_t layer,
                             ParameterLister& list) const {
  ListPlainLayer(config, NamesOf(config, layer), layer, list);
}

LayerNames DebertaRules::NamesOf(const ModelConfig& /*config*/,
                                 std::int64_t layer) const {
  const std::string at = "deberta.encoder.layer." + std::to_string(layer) + ".";
  return {.query = at + "attention.self.query_proj",
          .key = at + "attention.self.key_proj",
          .value = at + "attention.self.value_proj",
          .attention_out = at + "attention.output.dense",
          .attention_norm = at + "attention.output.LayerNorm",
          .up = at + "intermediate.dense",
          .down = at + "output.dense",
          .norm = at + "output.LayerNorm"};
}

HeadShape DebertaRules::HeadOf(const ModelConfig& config,
                               const HeadSpec& head) const {
  HeadShape shape;
  shape.output = "classifier";
  if (!ReadsFirstToken(config, head)) return shape;
  shape.pooler = "pooler.dense";
  shape.pooler_activation = config.head_activation;
  shape.pooler_dropout = config.pooler_dropout;
  return shape;
}

namespace {

constexpr double kMostTheta = 1e12;

// Reads which layers are local: by a list of names, or all but every n-th
// layer.
void ReadWindows(ConfigMembers& members, ModelConfig& config) {
  const std::int64_t every =
      members.CountOr("global_attn_every_n_layers", 1, kMaxLayers, 3);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    config.local_layers.push_back(i % every != 0);
  }
  config.window = members.CountOr("local_attention", 2, kMaxPositions, 128) / 2;
  const JsonValue* names = members.Find("layer_types");
  if (names == nullptr) return;
  if (!names->is(JsonKind::kArray) || names->count != config.layers) {
    return members.Fail(FaultKind::kInconsistent,
                        "\"layer_types\" must name each layer");
  }
  std::size_t layer = 0;
  for (const JsonValue* at = names->first; at != nullptr; at = at->next) {
    const bool local = at->text == "sliding_attention";
    if (!local && at->text != "full_attention") {
      members.Fail(FaultKind::kUnsupported,
                   "a layer is neither full_attention nor sliding_attention");
    }
    config.local_layers[layer++] = local;
  }
}

// Reads the base of a kind of layer, by today's name or by the old one.
double ReadTheta(ConfigMembers& members, const char* kind, const char* before,
                 double usual) {
  ConfigMembers rotary = members.Within("rope_parameters");
  ConfigMembers own = rotary.Within(kind);
  own.MustBe("rope_type", "default", "default");
  const double theta = own.Number("rope_theta", kMostTheta,
                                  members.Number(before, kMostTheta, usual));
  if (own.fault()) members.Fail(own.fault()->kind, "rope_parameters");
  if (!(theta > 1.0)) {
    members.Fail(FaultKind::kInconsistent, "rope_theta must be above 1");
  }
  return theta;
}

void RefuseOtherModernBert(ConfigMembers& members) {
  for (const char* name :
       {"attention_bias", "mlp_bias", "norm_bias", "classifier_bias"}) {
    if (members.Flag(name, false)) {
      members.Fail(FaultKind::kUnsupported,
                   std::string(name) + " is not false");
    }
  }
  if (members.Find("rope_scaling") != nullptr) {
    members.Fail(FaultKind::kUnsupported, "rope_scaling is there");
  }
}

}  // namespace

void ModernBertRules::Read(ConfigMembers& members, ModelConfig& config) const {
  ReadSizes(members, config);
  config.gated = true;
  config.norm_epsilon = members.Number("norm_eps", 1.0, 1e-5);
  config.embedding_dropout = members.Number("embedding_dropout", 1.0, 0.0);
  config.hidden_dropout = members.Number("mlp_dropout", 1.0, 0.0);
  config.attention_dropout = members.Number("attention_dropout", 1.0, 0.0);
  config.sequence_dropout = members.Number("classifier_dropout", 1.0, 0.0);
  config.token_dropout = config.sequence_dropout;
  config.activation = members.ActivationOf("hidden_activation", "gelu");
  config.head_activation =
      members.ActivationOf("classifier_activation", "gelu");
  const std::string pooling = members.Text("classifier_pooling", "cls");
  config.mean_classifier = pooling == "mean";
  if (pooling != "mean") members.MustBe("classifier_pooling", "cls", "cls");
  ReadWindows(members, config);
  config.theta =
      ReadTheta(members, "full_attention", "global_rope_theta", 160'000.0);
  config.local_theta =
      ReadTheta(members, "sliding_attention", "local_rope_theta", 10'000.0);
  RefuseOtherModernBert(members);
}

void ModernBertRules::ListEmbeddings(const ModelConfig& config,
                                     ParameterLister& list) const {
  list.At(Part::kEmbeddings, -1);
  list.Embedding("model.embeddings.tok_embeddings", config.vocabulary,
                 config.hidden);
  list.Norm("model.embeddings.norm", config.hidden, /*bias=*/false);
}

// The first layer has no norm before attention, because the embeddings are
// normalized already. The norm after all layers is part of the last one.
void ModernBertRules::ListLayer(const ModelConfig& config, std::int64_t layer,
                                ParameterLister& list) const {
  const std::int64_t hidden = config.hidden;
  const std::int64_t wide = config.feed_forward;
  const LayerNames names = NamesOf(config, layer);
  list.At(Part::kAttention, layer);
  if (layer > 0) list.Norm(names.attention_norm, hidden, false);
  list.Linear(names.qkv, 3 * hidden, hidden, HeadAxis::kThreeRows, false);
  list.Linear(names.attention_out, hidden, hidden, HeadAxis::kColumns, false);
  list.At(Part::kFeedForward, layer);
  list.Norm(names.norm, hidden, false);
  list.Linear(names.up, 2 * wide, hidden, HeadAxis::kNone, false);
  list.Linear(names.down, hidden, wide, HeadAxis::kNone, false);
  if (layer + 1 == config.layers) list.Norm("model.final_norm", hidden, false);
}

LayerNames ModernBertRules::NamesOf(const ModelConfig& /*config*/,
                                    std::int64_t layer) const {
  const std::string at = "model.layers." + std::to_string(layer) + ".";
  return {.qkv = at + "attn.Wqkv",
          .attention_out = at + "attn.Wo",
          .attention_norm = at + "attn_norm",
          .up = at + "mlp.Wi",
          .down = at + "mlp.Wo",
          .norm = at + "mlp_norm"};
}

HeadShape ModernBertRules::HeadOf(const ModelConfig& config,
                                  const HeadSpec& /*head*/) const {
  HeadShape shape;
  shape.dense = "head.dense";
  shape.dense_bias = false;
  shape.dense_activation = config.head_activation;
  shape.dense_norm = "head.norm";
  shape.output = "classifier";
  return shape;
}

namespace {

// Reads the factors that both kinds of scaling have.
void ReadScaling(ConfigMembers& rotary, const std::string& low,
                 double usual_low, const std::string& high, double usual_high,
                 ConfigMembers& members, RotaryScaling& scaling) {
  scaling.low_frequency = rotary.Number(low, 1e6, usual_low);
  scaling.high_frequency = rotary.Number(high, 1e6, usual_high);
  scaling.pretrained_positions =
      rotary.Count("original_max_position_embeddings", 1, kMaxPositions);
  if (!(scaling.factor >= 1.0 && scaling.low_frequency > 0.0 &&
        scaling.high_frequency > scaling.low_frequency)) {
    members.Fail(FaultKind::kInconsistent,
                 "the factors of rope scaling make no scaling");
  }
}

// Reads YaRN's scaling. What only DeepSeek's models set is refused.
void ReadYarn(ConfigMembers& rotary, ConfigMembers& members,
              RotaryScaling& scaling) {
  scaling.kind = RotaryScaling::Kind::kYarn;
  scaling.factor = rotary.Number("factor", 1e6, 0.0);
  ReadScaling(rotary, "beta_slow", 1.0, "beta_fast", 32.0, members, scaling);
  scaling.attention = rotary.Number("attention_factor", 1e6,
                                    0.1 * std::log(scaling.factor) + 1.0);
  for (const char* name : {"mscale", "mscale_all_dim"}) {
    if (rotary.Find(name) == nullptr) continue;
    members.Fail(FaultKind::kUnsupported,
                 std::string(name) + " of the rope scaling is there");
  }
  if (!rotary.Flag("truncate", true)) {
    members.Fail(FaultKind::kUnsupported,
                 "truncate of the rope scaling is false");
  }
}

// Reads "llama3" or "yarn" scaling, by today's name or by the old one; any
// other kind would be computed wrongly.
void ReadRotary(ConfigMembers& members, ModelConfig& config) {
  const bool old = members.Find("rope_parameters") == nullptr;
  ConfigMembers rotary =
      members.Within(old ? "rope_scaling" : "rope_parameters");
  config.theta = rotary.Number("rope_theta", kMostTheta,
                               members.Number("rope_theta", kMostTheta, 1e4));
  if (!(config.theta > 1.0)) {
    members.Fail(FaultKind::kInconsistent, "rope_theta must be above 1");
  }
  const std::string kind =
      rotary.Text("rope_type", rotary.Text("type", "default"));
  RotaryScaling& scaling = config.rotary_scaling;
  if (kind == "llama3") {
    scaling.kind = RotaryScaling::Kind::kLlama3;
    scaling.factor = rotary.Number("factor", 1e6, 8.0);
    ReadScaling(rotary, "low_freq_factor", 1.0, "high_freq_factor", 4.0,
                members, scaling);
  } else if (kind == "yarn") {
    ReadYarn(rotary, members, scaling);
  } else if (kind != "default") {
    members.Fail(
        FaultKind::kUnsupported,
        "the rope_type is \"" + kind + "\", not default, llama3 or yarn");
  }
  if (rotary.fault()) members.Fail(rotary.fault()->kind, "rope_parameters");
}

// One id, or several any of which ends a text.
void ReadEnds(const ConfigMembers& members, ModelConfig& config) {
  const JsonValue* value = members.Find("eos_token_id");
  if (value == nullptr) return;
  const bool list = value->is(JsonKind::kArray);
  for (const JsonValue* at = list ? value->first : value; at != nullptr;
       at = list ? at->next : nullptr) {
    const std::optional<std::int32_t> id = at->Index();
    if (id && *id < config.vocabulary) config.ends.push_back(*id);
  }
}

// A window, a cap or a part that would be left out gives other numbers.
void RefuseOtherDecoders(ConfigMembers& members, const ModelConfig& config) {
  const auto refuse = [&](bool is, const std::string& what) {
    if (is) members.Fail(FaultKind::kUnsupported, what);
  };
  refuse(members.Flag("use_sliding_window", false),
         "use_sliding_window is true");
  refuse(members.Flag("attention_bias", false), "attention_bias is not false");
  refuse(members.Flag("mlp_bias", false), "mlp_bias is not false");
  refuse(members.Find("quantization_config") != nullptr,
         "its weights are quantized");
  for (const char* cap :
       {"attn_logit_softcapping", "final_logit_softcapping"}) {
    refuse(members.Find(cap) != nullptr, std::string(cap) + " is there");
  }
  if (const JsonValue* types = members.Find("layer_types")) {
    for (const JsonValue* at = types->first; at != nullptr; at = at->next) {
      refuse(at->text != "full_attention", "a layer is not full_attention");
    }
  }
  const std::int64_t keys = config.heads_of_keys();
  if (config.heads % keys != 0 || config.head_size() % 2 != 0) {
    members.Fail(FaultKind::kInconsistent,
                 "num_attention_heads is no multiple of num_key_value_heads, "
                 "or a head has an odd width");
  }
}

}  // namespace

void LlamaRules::Read(ConfigMembers& members, ModelConfig& config) const {
  ReadSizes(members, config);
  config.key_heads =
      members.CountOr("num_key_value_heads", 1, kMaxWidth, config.heads);
  config.head_width = members.CountOr("head_dim", 1, kMaxWidth, 0);
  config.decoder = true;
  config.qkv_bias = config.model_type == "qwen2";
  config.head_norms = config.model_type == "qwen3";
  config.pads_alone = members.Find("pad_token_id") != nullptr;
  config.tied = members.Flag("tie_word_embeddings", false);
  ReadEnds(members, config);
  config.norm_epsilon = members.Number("rms_norm_eps", 1.0, 1e-6);
  config.hidden_dropout = 0.0;
  config.attention_dropout = members.Number("attention_dropout", 1.0, 0.0);
  config.sequence_dropout = 0.0;
  config.token_dropout = members.Number(
      "classifier_dropout", 1.0, members.Number("hidden_dropout", 1.0, 0.1));
  config.activation = members.ActivationOf("hidden_act", "silu");
  ReadRotary(members, config);
  RefuseOtherDecoders(members, config);
}

void LlamaRules::ListEmbeddings(const ModelConfig& config,
                                ParameterLister& list) const {
  list.At(Part::kEmbeddings, -1);
  list.Embedding("model.embed_tokens", config.vocabulary, config.hidden);
}

// The norm after all layers is part of the last one.
void LlamaRules::ListLayer(const ModelConfig& config, std::int64_t layer,
                           ParameterLister& list) const {
  const std::int64_t hidden = config.hidden;
  const std::int64_t wide = config.feed_forward;
  const bool alone = !config.shares_heads();
  const HeadAxis rows = alone ? HeadAxis::kRows : HeadAxis::kNone;
  const LayerNames names = NamesOf(config, layer);
  list.At(Part::kAttention, layer);
  list.Norm(names.attention_norm, hidden, false);
  list.Linear(names.query, config.query_width(), hidden, rows, config.qkv_bias);
  list.Linear(names.key, config.key_width(), hidden, rows, config.qkv_bias);
  list.Linear(names.value, config.key_width(), hidden, rows, config.qkv_bias);
  if (config.head_norms) {
    list.Norm(names.query_norm, config.head_size(), false);
    list.Norm(names.key_norm, config.head_size(), false);
  }
  list.Linear(names.attention_out, hidden, config.query_width(),
              alone ? HeadAxis::kColumns : HeadAxis::kNone, false);
  list.At(Part::kFeedForward, layer);
  list.Norm(names.norm, hidden, false);
  list.Linear(names.gate, wide, hidden, HeadAxis::kNone, false);
  list.Linear(names.up, wide, hidden, HeadAxis::kNone, false);
  list.Linear(names.down, hidden, wide, HeadAxis::kNone, false);
  if (layer + 1 == config.layers) list.Norm("model.norm", hidden, false);
}

LayerNames LlamaRules::NamesOf(const ModelConfig& /*config*/,
                               std::int64_t layer) const {
  const std::string at = "model.layers." + std::to_string(layer) + ".";
  return {.query = at + "self_attn.q_proj",
          .key = at + "self_attn.k_proj",
          .value = at + "self_attn.v_proj",
          .query_norm = at + "self_attn.q_norm",
          .key_norm = at + "self_attn.k_norm",
          .attention_out = at + "self_attn.o_proj",
          .attention_norm = at + "input_layernorm",
          .gate = at + "mlp.gate_proj",
          .up = at + "mlp.up_proj",
          .down = at + "mlp.down_proj",
          .norm = at + "post_attention_layernorm"};
}

HeadShape LlamaRules::HeadOf(const ModelConfig& config,
                             const HeadSpec& head) const {
  HeadShape shape;
  if (head.task == Task::kAnswers) {
    if (!config.tied) shape.output = "lm_head";
    shape.output_bias = false;
    return shape;
  }
  shape.output = "score";
  shape.output_bias = head.task == Task::kTokens;
  return shape;
}

}  // namespace frostline::trainer
