// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/lora.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/plain/training_table.h"

namespace frostline::trainer {
namespace {

using enum LoraPart;
constexpr std::array<std::pair<std::string_view, LoraPart>, 7> kNames = {
    {{"query", kQuery},
     {"key", kKey},
     {"value", kValue},
     {"attention_out", kAttentionOut},
     {"ffn_in", kFeedForwardIn},
     {"ffn_out", kFeedForwardOut},
     {"qkv", kQueryKeyValue}}};

}  // namespace

bool LoraSpec::on_attention() const {
  return on(kQuery) || on(kKey) || on(kValue) || on(kQueryKeyValue) ||
         on(kAttentionOut);
}

bool LoraSpec::on_feed_forward() const {
  return on(kFeedForwardIn) || on(kFeedForwardOut);
}

std::optional<LoraPart> LoraPartOf(std::string_view name) {
  const std::span<const LoraWord> words = LoraWords();
  const auto word = std::ranges::find(words, name, &LoraWord::word);
  if (word == words.end()) return std::nullopt;
  for (const auto& [known, part] : kNames) {
    if (known == word->map) return part;
  }
  return std::nullopt;
}

std::string_view NameOf(LoraPart part) {
  const auto named = [part](const auto& each) { return each.second == part; };
  return std::ranges::find_if(kNames, named)->first;
}

std::string LoraPartNames() {
  std::string all;
  for (const auto& [name, part] : kNames) {
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  return all;
}

Expected<Done> CheckLora(const LoraSpec& lora, std::int64_t hidden,
                         std::int64_t feed_forward) {
  // Every map has one side as wide as the hidden states.
  const std::int64_t most =
      lora.on_feed_forward() ? std::min(hidden, feed_forward) : hidden;
  if (lora.rank <= most) return Done{};
  return Fault{
      FaultKind::kMisuse,
      "training.lora.rank is " + std::to_string(lora.rank) +
          ", and the maps it adapts have no more than " + std::to_string(most),
      "give a rank of 1 to " + std::to_string(most) + "; 4 to 64 are usual"};
}

}  // namespace frostline::trainer
