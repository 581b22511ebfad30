// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/parameters.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "worker/trainer/model/family.h"
#include "worker/trainer/model/limits.h"

namespace frostline::trainer {
namespace {

// Lists the family's own head, which reads one text.
void ListLinearHead(const ModelConfig& config, const HeadShape& shape,
                    const HeadSpec& head, ParameterLister& list) {
  const std::int64_t hidden = config.hidden;
  if (!shape.dense.empty()) {
    list.Linear(shape.dense, hidden, hidden, HeadAxis::kNone, shape.dense_bias);
  }
  if (!shape.dense_norm.empty()) list.Norm(shape.dense_norm, hidden, false);
  if (shape.output.empty()) return;  // the embeddings' table is
  list.Linear(shape.output,
              head.task == Task::kAnswers ? config.vocabulary : head.outputs,
              hidden, HeadAxis::kNone, shape.output_bias);
}

void ListHead(const ModelConfig& config, const HeadSpec& head,
              ParameterLister& list) {
  const std::int64_t hidden = config.hidden;
  const HeadShape shape = RulesOf(config.family).HeadOf(config, head);
  if (!shape.pooler.empty()) {
    list.At(Part::kPooler, -1);
    list.Linear(shape.pooler, hidden, hidden);
  }
  list.At(Part::kHead, -1);
  const std::int64_t read = head.apart() ? 2 * hidden : hidden;
  switch (head.kind) {
    case HeadKind::kLinear:
      if (!head.apart()) return ListLinearHead(config, shape, head, list);
      return list.Linear("pair.output", head.outputs, read);
    case HeadKind::kMlp: {
      const std::int64_t middle = head.hidden > 0 ? head.hidden : hidden;
      list.Linear("mlp.dense", middle, read);
      return list.Linear("mlp.output", head.outputs, middle);
    }
    case HeadKind::kInnerProduct:
    case HeadKind::kTwoMapCosine:
      list.Linear("left_projection", hidden, hidden);
      return list.Linear("right_projection", hidden, hidden);
    case HeadKind::kCosine:
      return list.Linear("projection", hidden, hidden);
    case HeadKind::kFeatures:
      return list.Linear("features.output", head.outputs, 4 * hidden);
  }
}

void ListAdapters(const ModelConfig& config, std::int64_t layer,
                  ParameterLister& list) {
  for (const LayerMap& map : LayerMapsOf(config, layer)) {
    const std::int64_t rank = config.lora.RankOf(map.part, layer);
    if (rank == 0) continue;
    list.At(IsFeedForward(map.part) ? Part::kFeedForward : Part::kAttention,
            layer);
    list.Adapter(map.name, map.outputs, map.inputs, rank);
  }
}

void ListBottlenecks(const ModelConfig& config, std::int64_t layer,
                     ParameterLister& list) {
  if (!config.bottleneck.any()) return;
  const LayerNames names = LayerNamesOf(config, layer);
  list.At(Part::kAttention, layer);
  list.Bottleneck(names.attention_out, config.hidden, config.bottleneck.size);
  list.At(Part::kFeedForward, layer);
  list.Bottleneck(names.down, config.hidden, config.bottleneck.size);
}

}  // namespace

std::string LoraANameOf(const std::string& linear) {
  return linear + ".lora_A.weight";
}

std::string LoraBNameOf(const std::string& linear) {
  return linear + ".lora_B.weight";
}

std::string PrefixOf(const HeadSpec& head) {
  return head.name.empty() ? "" : "heads." + head.name + ".";
}

Pooling PoolingOf(const ModelConfig& config, const HeadSpec& head) {
  // The first token of a decoder has seen nothing but itself.
  const bool chosen = head.pooling != Pooling::kUsual &&
                      !(config.decoder && head.pooling == Pooling::kFirst);
  if (chosen) return head.pooling;
  if (config.decoder) return Pooling::kLast;
  const bool own = head.kind == HeadKind::kLinear && !head.apart();
  return own && config.mean_classifier ? Pooling::kMean : Pooling::kFirst;
}

bool ReadsFirstToken(const ModelConfig& config, const Heads& heads) {
  return std::ranges::all_of(heads, [&](const HeadSpec& head) {
    return !LabelsTokens(head.task) &&
           PoolingOf(config, head) == Pooling::kFirst;
  });
}

Expected<Done> CheckHead(const HeadSpec& head) {
  const bool one =
      head.task == Task::kRegression || head.task == Task::kAnswers;
  if (head.outputs < 1 || head.outputs > kMaxOutputs ||
      (one && head.outputs != 1)) {
    return Fault{FaultKind::kMisuse,
                 "a head with " + std::to_string(head.outputs) + " outputs",
                 "a regression has 1, a classification has as many as there "
                 "are classes"};
  }
  const bool of_texts = head.apart() || head.pooling != Pooling::kUsual;
  if (head.task == Task::kTokens && of_texts) {
    return Fault{FaultKind::kMisuse,
                 "the head answers for whole texts, and the task is tagging",
                 "say kind: linear or mlp, without pair and pooling"};
  }
  if (head.task == Task::kAnswers &&
      (of_texts || head.kind != HeadKind::kLinear)) {
    return Fault{FaultKind::kMisuse,
                 "the task is answers, and the head is one for whole texts",
                 "leave training.head out: the model has a head for tokens"};
  }
  if (head.is_cosine() && !one) {
    return Fault{FaultKind::kMisuse,
                 "the head is cosine, and the task is no regression",
                 "give data.task: regression, or another head"};
  }
  if (head.kind == HeadKind::kInnerProduct && !one && head.outputs != 2) {
    return Fault{FaultKind::kMisuse,
                 "the head inner_product tells two classes apart, and the data "
                 "set has " +
                     std::to_string(head.outputs),
                 "take features, or a data set of two labels or of numbers"};
  }
  return Done{};
}

bool HasPooler(const ModelConfig& config, const Heads& heads) {
  return std::ranges::any_of(heads, [&](const HeadSpec& head) {
    return !RulesOf(config.family).HeadOf(config, head).pooler.empty();
  });
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
    maps = {{kQuery, names.query, config.query_width(), hidden},
            {kKey, names.key, config.key_width(), hidden},
            {kValue, names.value, config.key_width(), hidden}};
  } else {
    maps = {{kQueryKeyValue, names.qkv, 3 * hidden, hidden}};
  }
  maps.push_back(
      {kAttentionOut, names.attention_out, hidden, config.query_width()});
  if (!names.gate.empty()) {
    maps.push_back({kFeedForwardGate, names.gate, wide, hidden});
  }
  maps.push_back(
      {kFeedForwardIn, names.up, config.gated ? 2 * wide : wide, hidden});
  maps.push_back({kFeedForwardOut, names.down, hidden, wide});
  return maps;
}

Expected<Done> CheckAdapters(const ModelConfig& config) {
  const Expected<Done> fits = CheckBottleneck(config.bottleneck, config.hidden);
  if (!fits.ok() || !config.lora.any()) return fits;
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
  return CheckLora(config.lora, std::min(config.hidden, config.key_width()),
                   config.feed_forward);
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
    ListBottlenecks(config, layer, list);
  }
  return specs;
}

std::vector<ParameterSpec> HeadParametersOf(const ModelConfig& config,
                                            const Heads& heads) {
  std::vector<ParameterSpec> poolers;
  std::vector<ParameterSpec> own;
  for (const HeadSpec& head : heads) {
    std::vector<ParameterSpec> specs;
    ParameterLister list(specs);
    ListHead(config, head, list);
    for (ParameterSpec& spec : specs) {
      const bool pools = spec.part == Part::kPooler;
      if (pools && poolers.size() == 2) continue;  // another head's, too
      if (!pools) {
        spec.name.insert(0, PrefixOf(head));
        spec.task = head.name;
      }
      (pools ? poolers : own).push_back(std::move(spec));
    }
  }
  poolers.insert(poolers.end(), own.begin(), own.end());
  return poolers;
}

std::vector<ParameterSpec> ParametersOf(const ModelConfig& config,
                                        const Heads& heads) {
  std::vector<ParameterSpec> specs = EncoderParametersOf(config);
  const auto adapters = std::ranges::find_if(specs, &ParameterSpec::adapts);
  const std::vector<ParameterSpec> more = HeadParametersOf(config, heads);
  specs.insert(adapters, more.begin(), more.end());
  return specs;
}

void ParameterLister::At(Part part, std::int64_t layer) {
  part_ = part;
  layer_ = layer;
}

void ParameterLister::Embedding(const std::string& name, std::int64_t rows,
                                std::int64_t width) {
  Add(name + ".weight", {rows, width}, Role::kEmbedding);
}

void ParameterLister::Norm(const std::string& name, std::int64_t width,
                           bool bias) {
  Add(name + ".weight", {width}, Role::kNorm);
  if (!bias) return;
  Add(name + ".bias", {width}, Role::kNorm);
  specs_->back().norm_bias = true;
}

void ParameterLister::Linear(const std::string& name, std::int64_t outputs,
                             std::int64_t inputs, HeadAxis axis, bool bias) {
  Add(name + ".weight", {outputs, inputs}, Role::kWeight);
  specs_->back().head_axis = axis;
  if (!bias) return;
  Add(name + ".bias", {outputs}, Role::kBias);
  if (axis == HeadAxis::kRows) specs_->back().head_axis = axis;
}

void ParameterLister::Adapter(const std::string& name, std::int64_t outputs,
                              std::int64_t inputs, std::int64_t rank) {
  Add(LoraANameOf(name), {rank, inputs}, Role::kLoraA);
  Add(LoraBNameOf(name), {outputs, rank}, Role::kLoraB);
}

void ParameterLister::Bottleneck(const std::string& name, std::int64_t width,
                                 std::int64_t size) {
  Add(DownNameOf(name) + ".weight", {size, width}, Role::kDown);
  Add(DownNameOf(name) + ".bias", {size}, Role::kAdapterBias);
  Add(UpNameOf(name) + ".weight", {width, size}, Role::kUp);
  Add(UpNameOf(name) + ".bias", {width}, Role::kAdapterBias);
}

void ParameterLister::Add(std::string name, std::vector<std::int64_t> shape,
                          Role role) {
  ParameterSpec spec;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  spec.part = part_;
  spec.layer = layer_;
  spec.role = role;
  specs_->push_back(std::move(spec));
}

namespace {

// Prefixes of what was trained on top of an encoder, in any family.
constexpr std::array<std::string_view, 4> kHeads = {
    "qa_outputs.", "classifier.", "pre_classifier.", "pooler."};

// Renames the end of a LayerNorm's weight. Another tensor may rightly be called
// gamma.
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
  if (name.ends_with("rotary_emb.inv_freq") ||
      name.ends_with("embeddings.position_ids") ||
      name.ends_with("embeddings.token_type_ids")) {
    return true;
  }
  return begins(std::string(rules.prefix()) + "pooler.");
}

}  // namespace frostline::trainer
