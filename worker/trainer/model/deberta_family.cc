// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/deberta_family.h"

#include <set>

#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

// -1 stands for none.
std::int64_t CountIfAny(const char* name, std::int64_t otherwise,
                        ConfigMembers& members) {
  const JsonValue* value = members.Find(name);
  const bool none = value == nullptr ||
                    (value->is(JsonKind::kNumber) && value->number == -1.0);
  return none ? otherwise : members.Count(name, 2, kMaxPositions);
}

// "p2c|c2p", or a list of the two.
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
  config.hidden = members.Count("hidden_size", 1, kMaxWidth);
  config.layers = members.Count("num_hidden_layers", 1, kMaxLayers);
  config.heads = members.Count("num_attention_heads", 1, kMaxWidth);
  config.feed_forward = members.Count("intermediate_size", 1, kMaxWidth);
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

}  // namespace frostline::trainer
