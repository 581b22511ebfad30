// SPDX-License-Identifier: Apache-2.0
//
// File: lora.h
//
// Low-rank adapters (Hu et al., 2021) as peft has them: a linear map W x + b
// becomes W x + b + (alpha / rank) B A drop(x), where W and b stay as they are,
// A has `rank` rows and B as many columns. B begins at 0, so that training
// begins where the pretrained model is.
#ifndef FROSTLINE_WORKER_TRAINER_MODEL_LORA_H_
#define FROSTLINE_WORKER_TRAINER_MODEL_LORA_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/plain/result.h"

namespace frostline::trainer {

enum class LoraPart : std::uint8_t {
  kQuery,
  kKey,
  kValue,
  kAttentionOut,
  kFeedForwardIn,
  kFeedForwardOut,
  kQueryKeyValue,  // of a family that has them in one map
};

struct LoraSpec {
  std::int64_t rank = 0;  // 0: no adapters
  double alpha = 0.0;
  double dropout = 0.0;
  // Every layer has them.
  std::set<LoraPart> parts = {LoraPart::kQuery, LoraPart::kValue};

  bool any() const { return rank > 0; }
  bool on(LoraPart part) const { return any() && parts.contains(part); }
  bool on_attention() const;
  bool on_feed_forward() const;
  double scale() const { return alpha / static_cast<double>(rank); }
};

// Knows "query", or its name in a model of transformers ("q_lin").
std::optional<LoraPart> LoraPartOf(std::string_view name);

std::string_view NameOf(LoraPart part);

// Returns "query, key, …", for those who wrote another word.
std::string LoraPartNames();

// Returns kMisuse for a rank at which an adapter of these widths would be as
// large as what it adapts.
Expected<Done> CheckLora(const LoraSpec& lora, std::int64_t hidden,
                         std::int64_t feed_forward);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_MODEL_LORA_H_
