// SPDX-License-Identifier: Apache-2.0
//
// File: distilbert_family.h
//
// DistilBERT has no token types, no pooler, and its own words for the rest.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DISTILBERT_FAMILY_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DISTILBERT_FAMILY_H_

#include "worker/trainer/model/family.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DISTILBERT_FAMILY_H_
