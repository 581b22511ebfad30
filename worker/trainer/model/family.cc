// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/family.h"

#include <array>

#include "worker/trainer/model/bert_family.h"
#include "worker/trainer/model/deberta_family.h"
#include "worker/trainer/model/distilbert_family.h"
#include "worker/trainer/model/modernbert_family.h"

namespace frostline::trainer {
namespace {

template <typename Rules>
const FamilyRules& Constant() {
  static const Rules kRules;
  return kRules;
}

}  // namespace

std::span<const KnownModel> KnownModels() {
  static constexpr std::array<KnownModel, 7> kKnown = {
      {{"bert", "Bert", Family::kBert},
       {"distilbert", "DistilBert", Family::kDistilBert},
       {"roberta", "Roberta", Family::kRoberta},
       {"xlm-roberta", "XLMRoberta", Family::kRoberta},
       {"electra", "Electra", Family::kElectra},
       {"modernbert", "ModernBert", Family::kModernBert},
       {"deberta-v2", "DebertaV2", Family::kDebertaV3}}};
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

}  // namespace frostline::trainer
