// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/distilbert_family.h"

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer
