// SPDX-License-Identifier: Apache-2.0
//
// File: modernbert_family.h
//
// ModernBERT has rotary positions, attention to a window of tokens in most
// layers, a gated feed forward, norms before its maps, and no biases.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_MODERNBERT_FAMILY_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_MODERNBERT_FAMILY_H_

#include "worker/trainer/model/family.h"

namespace frostline::trainer {

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

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_MODERNBERT_FAMILY_H_
