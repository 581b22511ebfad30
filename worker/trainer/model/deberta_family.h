// SPDX-License-Identifier: Apache-2.0
//
// File: deberta_family.h
//
// DeBERTa-v3 attends by content and by distance. transformers calls it
// deberta-v2; what else that class can be is refused.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_DEBERTA_FAMILY_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_DEBERTA_FAMILY_H_

#include "worker/trainer/model/family.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_DEBERTA_FAMILY_H_
