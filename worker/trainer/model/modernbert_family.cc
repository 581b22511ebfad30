// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/modernbert_family.h"

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

constexpr double kMostTheta = 1e12;

// Where attention is local: by a list of names, or all but every n-th layer.
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

// The base of a kind of layer: by today's name, or by that of before.
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
  config.hidden = members.Count("hidden_size", 1, kMaxWidth);
  config.layers = members.Count("num_hidden_layers", 1, kMaxLayers);
  config.heads = members.Count("num_attention_heads", 1, kMaxWidth);
  config.feed_forward = members.Count("intermediate_size", 1, kMaxWidth);
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

// The first layer attends to embeddings that have been normalized; the norm
// behind all layers is part of the last.
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

}  // namespace frostline::trainer
