// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/stored_names.h"

#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {
namespace {

// Only of a LayerNorm: another tensor may rightly be called gamma.
void RenameEnd(std::string& name, std::string_view from, std::string_view to) {
  const std::string end = "LayerNorm." + std::string(from);
  if (!name.ends_with(end)) return;
  name.resize(name.size() - from.size());
  name += to;
}

}  // namespace

std::string CurrentName(std::string_view stored, const ModelConfig& config) {
  std::string name(stored);
  RenameEnd(name, "gamma", "weight");
  RenameEnd(name, "beta", "bias");
  for (const std::string_view part :
       {"embeddings.", "encoder.", "transformer.", "pooler."}) {
    if (name.starts_with(part)) return std::string(PrefixOf(config)) + name;
  }
  return name;
}

bool IsLeftover(std::string_view name, const ModelConfig& config) {
  for (const std::string_view head :
       {"cls.", "lm_head.", "vocab_transform.", "vocab_layer_norm.",
        "vocab_projector.", "qa_outputs.", "classifier.", "pre_classifier."}) {
    if (name.starts_with(head)) return true;
  }
  if (name.ends_with("embeddings.position_ids") ||
      name.ends_with("embeddings.token_type_ids")) {
    return true;
  }
  return name.starts_with(std::string(PrefixOf(config)) + "pooler.");
}

}  // namespace frostline::trainer
