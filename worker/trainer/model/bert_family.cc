// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/bert_family.h"

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

// Dropout, dense, activation, dropout, output.
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

// The pooler is there where the head looks at one.
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

}  // namespace frostline::trainer
