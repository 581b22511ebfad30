// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/stored_names.h"

#include <algorithm>
#include <array>

#include "worker/trainer/model/family.h"

namespace frostline::trainer {
namespace {

// Of whatever was trained on top, in any family.
constexpr std::array<std::string_view, 4> kHeads = {
    "qa_outputs.", "classifier.", "pre_classifier.", "pooler."};

// Only of a LayerNorm: another tensor may rightly be called gamma.
void RenameEnd(std::string& name, std::string_view from, std::string_view to) {
  const std::string end = "LayerNorm." + std::string(from);
  if (!name.ends_with(end)) return;
  name = name.substr(0, name.size() - from.size()) + std::string(to);
}

}  // namespace

std::string CurrentName(std::string_view stored, const ModelConfig& config) {
  std::string name(stored);
  RenameEnd(name, "gamma", "weight");
  RenameEnd(name, "beta", "bias");
  const FamilyRules& rules = RulesOf(config.family);
  for (const std::string_view part : rules.EncoderParts()) {
    if (name.starts_with(part)) return std::string(rules.prefix()) + name;
  }
  return name;
}

bool IsLeftover(std::string_view name, const ModelConfig& config) {
  const FamilyRules& rules = RulesOf(config.family);
  const auto begins = [&](std::string_view head) {
    return name.starts_with(head);
  };
  if (std::ranges::any_of(rules.Leftovers(), begins) ||
      std::ranges::any_of(kHeads, begins)) {
    return true;
  }
  if (name.ends_with("embeddings.position_ids") ||
      name.ends_with("embeddings.token_type_ids")) {
    return true;
  }
  return begins(std::string(rules.prefix()) + "pooler.");
}

}  // namespace frostline::trainer
