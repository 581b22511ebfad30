// SPDX-License-Identifier: Apache-2.0
//
// File: bert_family.h
//
// BERT and the families that differ from it in their head, in their positions
// or in the width of their tables.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_BERT_FAMILY_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_BERT_FAMILY_H_

#include "worker/trainer/model/family.h"

namespace frostline::trainer {

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

// RoBERTa, DistilRoBERTa and XLM-R.
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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_BERT_FAMILY_H_
