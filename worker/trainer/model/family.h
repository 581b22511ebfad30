// SPDX-License-Identifier: Apache-2.0
//
// File: family.h
//
// How families of models differ, without LibTorch: how a config.json is read,
// what weights are called, what a head looks like. How families compute is in
// blocks.h.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_FAMILY_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_FAMILY_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "worker/trainer/model/model_config.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {

// The shape of a head, from the encoder up: a pooler, a dense layer and the
// output map, with dropout before those that say so. A part with an empty name
// is not there.
struct HeadShape {
  std::string pooler;  // a module of its own
  Activation pooler_activation = Activation::kTanh;
  double pooler_dropout = 0.0;
  std::string dense;
  bool dense_bias = true;
  bool drops_before_dense = false;
  Activation dense_activation = Activation::kTanh;
  std::string dense_norm;
  std::string output;
  bool output_bias = true;
};

// The rules of one family. They are constants that live for ever. Any thread
// may ask them.
class FamilyRules {
 public:
  virtual ~FamilyRules() = default;

  // Returns the prefix of the encoder's names: "bert.". Files may lack it; then
  // names begin with one of EncoderParts.
  virtual std::string_view prefix() const = 0;
  virtual std::vector<std::string_view> EncoderParts() const = 0;
  // Returns how names of pretraining heads begin.
  virtual std::vector<std::string_view> Leftovers() const = 0;

  // Returns the padding id if the config.json has none.
  virtual std::int64_t UsualPadId() const { return 0; }
  // Reads what this family has. What all families have under one name was read
  // before.
  virtual void Read(ConfigMembers& members, ModelConfig& config) const = 0;

  virtual void ListEmbeddings(const ModelConfig& config,
                              ParameterLister& list) const = 0;
  virtual void ListLayer(const ModelConfig& config, std::int64_t layer,
                         ParameterLister& list) const = 0;
  virtual LayerNames NamesOf(const ModelConfig& config,
                             std::int64_t layer) const = 0;
  virtual HeadShape HeadOf(const ModelConfig& config,
                           const HeadSpec& head) const = 0;
};

// Lists a layer whose maps and norms all have a bias.
void ListPlainLayer(const ModelConfig& config, const LayerNames& names,
                    std::int64_t layer, ParameterLister& list);

// A model_type of a config.json, and its family.
struct KnownModel {
  std::string_view model_type;
  std::string_view class_name;  // as transformers' classes begin
  Family family;
};
std::span<const KnownModel> KnownModels();
const FamilyRules& RulesOf(Family family);

// The rules of BERT. Derived families differ in their head, in their positions
// or in the width of their tables.
class BertRules : public FamilyRules {
 public:
  std::string_view prefix() const override { return "bert."; }
  std::vector<std::string_view> EncoderParts() const override {
    return {"embeddings.", "encoder.", "pooler."};
  }
  std::vector<std::string_view> Leftovers() const override { return {"cls."}; }
  void Read(ConfigMembers& members, ModelConfig& config) const override;
  void ListEmbeddings(const ModelConfig& config,
                      ParameterLister& list) const override;
  void ListLayer(const ModelConfig& config, std::int64_t layer,
                 ParameterLister& list) const override;
  LayerNames NamesOf(const ModelConfig& config,
                     std::int64_t layer) const override;
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

// The rules of RoBERTa, DistilRoBERTa and XLM-R.
class RobertaRules : public BertRules {
 public:
  std::int64_t UsualPadId() const override { return 1; }
  std::string_view prefix() const override { return "roberta."; }
  std::vector<std::string_view> Leftovers() const override {
    return {"lm_head."};
  }
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

// The rules of ELECTRA, whose tables may be narrower than its layers.
class ElectraRules : public BertRules {
 public:
  std::string_view prefix() const override { return "electra."; }
  std::vector<std::string_view> EncoderParts() const override {
    return {"embeddings.", "embeddings_project.", "encoder."};
  }
  std::vector<std::string_view> Leftovers() const override {
    return {"discriminator_predictions.", "generator_predictions.",
            "generator_lm_head."};
  }
  void Read(ConfigMembers& members, ModelConfig& config) const override;
  void ListEmbeddings(const ModelConfig& config,
                      ParameterLister& list) const override;
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

// The rules of DistilBERT. It has no token types, no pooler, and its own names
// for the rest.
class DistilBertRules : public FamilyRules {
 public:
  std::string_view prefix() const override { return "distilbert."; }
  std::vector<std::string_view> EncoderParts() const override {
    return {"embeddings.", "transformer."};
  }
  std::vector<std::string_view> Leftovers() const override {
    return {"vocab_transform.", "vocab_layer_norm.", "vocab_projector."};
  }
  void Read(ConfigMembers& members, ModelConfig& config) const override;
  void ListEmbeddings(const ModelConfig& config,
                      ParameterLister& list) const override;
  void ListLayer(const ModelConfig& config, std::int64_t layer,
                 ParameterLister& list) const override;
  LayerNames NamesOf(const ModelConfig& config,
                     std::int64_t layer) const override;
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

// The rules of DeBERTa-v3, which attends by content and by distance.
// transformers calls it deberta-v2; other models of that class are refused.
class DebertaRules : public FamilyRules {
 public:
  std::string_view prefix() const override { return "deberta."; }
  std::vector<std::string_view> EncoderParts() const override {
    return {"embeddings.", "encoder."};
  }
  std::vector<std::string_view> Leftovers() const override {
    return {"lm_predictions.", "mask_predictions.", "cls.",
            "deberta.embeddings.position_embeddings."};
  }
  void Read(ConfigMembers& members, ModelConfig& config) const override;
  void ListEmbeddings(const ModelConfig& config,
                      ParameterLister& list) const override;
  void ListLayer(const ModelConfig& config, std::int64_t layer,
                 ParameterLister& list) const override;
  LayerNames NamesOf(const ModelConfig& config,
                     std::int64_t layer) const override;
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

// The rules of ModernBERT. It has rotary positions, attention to a window of
// tokens in most layers, a gated feed forward, norms before its maps, and no
// biases.
class ModernBertRules : public FamilyRules {
 public:
  std::int64_t UsualPadId() const override { return 50'283; }
  std::string_view prefix() const override { return "model."; }
  std::vector<std::string_view> EncoderParts() const override {
    return {"embeddings.", "layers.", "final_norm."};
  }
  std::vector<std::string_view> Leftovers() const override {
    return {"decoder.", "head."};
  }
  void Read(ConfigMembers& members, ModelConfig& config) const override;
  void ListEmbeddings(const ModelConfig& config,
                      ParameterLister& list) const override;
  void ListLayer(const ModelConfig& config, std::int64_t layer,
                 ParameterLister& list) const override;
  LayerNames NamesOf(const ModelConfig& config,
                     std::int64_t layer) const override;
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

// The rules of decoders like Llama's: RMSNorm before each half of a layer,
// rotary positions, heads of queries that share one of keys, a gated feed
// forward. Qwen2 has biases in q, k and v, Qwen3 norms of queries and keys. A
// head reads the last token of a text, the only one that has seen all of it.
class LlamaRules : public FamilyRules {
 public:
  std::string_view prefix() const override { return "model."; }
  std::vector<std::string_view> EncoderParts() const override {
    return {"embed_tokens.", "layers.", "norm."};
  }
  std::vector<std::string_view> Leftovers() const override {
    return {"lm_head."};
  }
  void Read(ConfigMembers& members, ModelConfig& config) const override;
  void ListEmbeddings(const ModelConfig& config,
                      ParameterLister& list) const override;
  void ListLayer(const ModelConfig& config, std::int64_t layer,
                 ParameterLister& list) const override;
  LayerNames NamesOf(const ModelConfig& config,
                     std::int64_t layer) const override;
  HeadShape HeadOf(const ModelConfig& config,
                   const HeadSpec& head) const override;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_FAMILY_H_
