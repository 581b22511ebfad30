// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/parameters.h"

#include <algorithm>
#include <set>

#include "worker/trainer/model/family.h"
#include "worker/trainer/model/limits.h"
#include "worker/trainer/model/parameter_lister.h"

namespace frostline::trainer {
namespace {

void ListHead(const ModelConfig& config, const HeadSpec& head,
              ParameterLister& list) {
  const std::int64_t hidden = config.hidden;
  const HeadShape shape = RulesOf(config.family).HeadOf(config, head);
  if (!shape.pooler.empty()) {
    list.At(Part::kPooler, -1);
    list.Linear(shape.pooler, hidden, hidden);
  }
  list.At(Part::kHead, -1);
  if (head.task == Task::kPairCosine) {
    list.Linear("projection", hidden, hidden);
    return;
  }
  if (!shape.dense.empty()) {
    list.Linear(shape.dense, hidden, hidden, HeadAxis::kNone, shape.dense_bias);
  }
  if (!shape.dense_norm.empty()) list.Norm(shape.dense_norm, hidden, false);
  list.Linear(shape.output, head.outputs, hidden);
}

void ListAdapters(const ModelConfig& config, std::int64_t layer,
                  ParameterLister& list) {
  for (const LayerMap& map : LayerMapsOf(config, layer)) {
    if (!config.lora.on(map.part)) continue;
    const bool feed_forward = map.part == LoraPart::kFeedForwardIn ||
                              map.part == LoraPart::kFeedForwardOut;
    list.At(feed_forward ? Part::kFeedForward : Part::kAttention, layer);
    list.Adapter(map.name, map.outputs, map.inputs, config.lora.rank);
  }
}

}  // namespace

std::string LoraANameOf(const std::string& linear) {
  return linear + ".lora_A.weight";
}

std::string LoraBNameOf(const std::string& linear) {
  return linear + ".lora_B.weight";
}

bool ReadsMean(const ModelConfig& config, const HeadSpec& head) {
  if (head.task == Task::kPairCosine) return head.pooling == Pooling::kMean;
  return head.task != Task::kTokens && config.mean_classifier;
}

bool ReadsFirstToken(const ModelConfig& config, const HeadSpec& head) {
  return head.task != Task::kTokens && !ReadsMean(config, head);
}

Expected<Done> CheckHead(const HeadSpec& head) {
  const bool one =
      head.task == Task::kRegression || head.task == Task::kPairCosine;
  if (head.outputs < 1 || head.outputs > kMaxOutputs ||
      (one && head.outputs != 1)) {
    return Fault{FaultKind::kMisuse,
                 "a head with " + std::to_string(head.outputs) + " outputs",
                 "a regression and a pair have 1, a classification has as many "
                 "as there are classes"};
  }
  return Done{};
}

bool HasPooler(const ModelConfig& config, const HeadSpec& head) {
  return !RulesOf(config.family).HeadOf(config, head).pooler.empty();
}

LayerNames LayerNamesOf(const ModelConfig& config, std::int64_t layer) {
  return RulesOf(config.family).NamesOf(config, layer);
}

std::vector<LayerMap> LayerMapsOf(const ModelConfig& config,
                                  std::int64_t layer) {
  using enum LoraPart;
  const LayerNames names = LayerNamesOf(config, layer);
  const std::int64_t hidden = config.hidden;
  const std::int64_t wide = config.feed_forward;
  std::vector<LayerMap> maps;
  if (names.qkv.empty()) {
    maps = {{kQuery, names.query, hidden, hidden},
            {kKey, names.key, hidden, hidden},
            {kValue, names.value, hidden, hidden}};
  } else {
    maps = {{kQueryKeyValue, names.qkv, 3 * hidden, hidden}};
  }
  maps.push_back({kAttentionOut, names.attention_out, hidden, hidden});
  maps.push_back(
      {kFeedForwardIn, names.up, config.gated ? 2 * wide : wide, hidden});
  maps.push_back({kFeedForwardOut, names.down, hidden, wide});
  return maps;
}

Expected<Done> CheckAdapters(const ModelConfig& config) {
  if (!config.lora.any()) return Done{};
  std::set<LoraPart> has;
  std::string all;
  for (const LayerMap& map : LayerMapsOf(config, 0)) {
    has.insert(map.part);
    all += (all.empty() ? "" : ", ") + std::string(NameOf(map.part));
  }
  for (const LoraPart part : config.lora.parts) {
    if (has.contains(part)) continue;
    return Fault{FaultKind::kMisuse,
                 "training.lora.modules names " + std::string(NameOf(part)) +
                     ", and the layers of a model of the type " +
                     config.model_type + " have no such map",
                 "name some of " + all};
  }
  return CheckLora(config.lora, config.hidden, config.feed_forward);
}

std::vector<ParameterSpec> EncoderParametersOf(const ModelConfig& config) {
  std::vector<ParameterSpec> specs;
  ParameterLister list(specs);
  const FamilyRules& rules = RulesOf(config.family);
  rules.ListEmbeddings(config, list);
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    rules.ListLayer(config, layer, list);
  }
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    ListAdapters(config, layer, list);
  }
  return specs;
}

std::vector<ParameterSpec> HeadParametersOf(const ModelConfig& config,
                                            const HeadSpec& head) {
  std::vector<ParameterSpec> specs;
  ParameterLister list(specs);
  ListHead(config, head, list);
  return specs;
}

std::vector<ParameterSpec> ParametersOf(const ModelConfig& config,
                                        const HeadSpec& head) {
  std::vector<ParameterSpec> specs = EncoderParametersOf(config);
  const auto adapters = std::ranges::find_if(specs, &ParameterSpec::adapts);
  const std::vector<ParameterSpec> more = HeadParametersOf(config, head);
  specs.insert(adapters, more.begin(), more.end());
  return specs;
}

}  // namespace frostline::trainer
