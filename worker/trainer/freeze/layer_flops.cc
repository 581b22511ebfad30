// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/layer_flops.h"

#include <map>
#include <vector>

namespace frostline::trainer {
namespace {

// Adds up a layer.
class LayerCount {
 public:
  LayerCount(const ModelConfig& config, const Gradients& gradients)
      : lora_(config.lora),
        bottleneck_(config.bottleneck),
        gradients_(gradients) {}

  // `rows` tokens pass through the map. `below`: something nearer to the text
  // has a gradient.
  void Map(LoraPart part, const std::string& name, std::int64_t rows,
           std::int64_t inputs, std::int64_t outputs, bool below) {
    const double whole = ProductFlops(rows, inputs, outputs);
    Product(whole, gradients_.Weight(name), below);
    if (!lora_.on(part)) return;
    const bool adapts = gradients_.Adapter(name);
    // A, then B
    Product(ProductFlops(rows, inputs, lora_.rank), adapts, below);
    Product(ProductFlops(rows, lora_.rank, outputs), adapts, adapts || below);
  }

  // Behind the map, on rows of `width` that have a gradient or not.
  void Bottleneck(const std::string& name, std::int64_t rows,
                  std::int64_t width, bool below) {
    if (!bottleneck_.any()) return;
    const double one = ProductFlops(rows, width, bottleneck_.size);
    const bool trains = gradients_.Behind(name);
    Product(one, trains, below);
    Product(one, trains, trains || below);
  }

  void Product(double forward, bool one, bool other) {
    AddProduct(forward, one, other, flops_);
  }

  const ModuleFlops& flops() const { return flops_; }

 private:
  const LoraSpec& lora_;
  const BottleneckSpec& bottleneck_;
  const Gradients& gradients_;
  ModuleFlops flops_;
};

// Rows of a map: of every token where others look at it.
std::int64_t RowsOf(LoraPart part, const LayerWork& work) {
  const bool looked_at = part == LoraPart::kKey || part == LoraPart::kValue ||
                         part == LoraPart::kQueryKeyValue;
  return work.texts * (looked_at ? work.tokens : work.asking);
}

// Distances go through query and key once for a batch, and are compared with
// keys and queries. Nothing below gives them a gradient but their own table.
void CountDistances(const ModelConfig& config, const Gradients& gradients,
                    const LayerWork& work, LayerCount& count) {
  const std::int64_t rows = 2 * config.span();
  if (rows == 0) return;
  const LayerNames names = LayerNamesOf(config, work.layer);
  count.Map(LoraPart::kQuery, names.query, rows, config.hidden, config.hidden,
            work.table);
  count.Map(LoraPart::kKey, names.key, rows, config.hidden, config.hidden,
            work.table);
  const bool query = gradients.Map(names.query);
  const bool key = gradients.Map(names.key);
  count.Product(ProductFlops(work.texts * work.asking, rows, config.hidden),
                work.below || query, work.table || key);
  count.Product(ProductFlops(work.texts * work.tokens, rows, config.hidden),
                work.below || key, work.table || query);
}

}  // namespace

Gradients::Gradients(const ModelConfig& config, const Heads& heads,
                     std::size_t task, const FreezePlan& plan) {
  const std::vector<ParameterSpec> specs = ParametersOf(config, heads);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (!plan.parameters[i].needs_gradient) continue;
    if (specs[i].task != heads[task].name && specs[i].part == Part::kHead) {
      continue;
    }
    parts_.emplace(specs[i].part, specs[i].layer);
    if (specs[i].layer >= 0) names_.insert(specs[i].name);
    if (specs[i].part != Part::kEmbeddings) continue;
    projection_ = projection_ || specs[i].role == Role::kWeight;
  }
}

bool Gradients::operator()(Part part, std::int64_t layer) const {
  return parts_.contains({part, layer});
}

bool Gradients::Weight(const std::string& linear) const {
  return names_.contains(linear + ".weight");
}

bool Gradients::Adapter(const std::string& linear) const {
  return names_.contains(LoraANameOf(linear));
}

bool Gradients::Behind(const std::string& linear) const {
  return names_.contains(DownNameOf(linear) + ".weight");
}

bool Gradients::Map(const std::string& linear) const {
  return Weight(linear) || names_.contains(linear + ".bias") || Adapter(linear);
}

double ProductFlops(std::int64_t rows, std::int64_t inputs,
                    std::int64_t outputs) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inputs) *
         static_cast<double>(outputs);
}

void AddProduct(double forward, bool one, bool other, ModuleFlops& flops) {
  flops.forward += forward;
  flops.backward += (one ? forward : 0.0) + (other ? forward : 0.0);
  flops.skipped = 2.0 * flops.forward - flops.backward;
}

ModuleFlops LayerFlops(const ModelConfig& config, const Gradients& gradients,
                       const LayerWork& work) {
  using enum LoraPart;
  const double sight =
      ProductFlops(work.texts * work.asking, work.tokens, config.hidden);
  LayerCount count(config, gradients);
  std::map<LoraPart, bool> has;  // a gradient, behind the map
  for (const LayerMap& map : LayerMapsOf(config, work.layer)) {
    has[map.part] = work.below || gradients.Map(map.name);
  }
  const bool query = has[kQuery] || has[kQueryKeyValue];
  const bool key = has[kKey] || has[kQueryKeyValue];
  const bool value = has[kValue] || has[kQueryKeyValue];
  count.Product(sight, query, key);           // scores
  count.Product(sight, query || key, value);  // what is seen
  CountDistances(config, gradients, work, count);
  const bool attention = work.below || gradients(Part::kAttention, work.layer);
  const LayerNames names = LayerNamesOf(config, work.layer);
  // Of ModernBERT a norm stands before the map, and trains with it.
  const auto before = [&](const std::string& norm) {
    return config.family == Family::kModernBert && gradients.Weight(norm);
  };
  for (const LayerMap& map : LayerMapsOf(config, work.layer)) {
    bool below = work.below || before(names.attention_norm);
    if (map.part == kAttentionOut) below = query || key || value;
    if (map.part == kFeedForwardIn) below = attention || before(names.norm);
    if (map.part == kFeedForwardOut) below = attention || has[kFeedForwardIn];
    count.Map(map.part, map.name, RowsOf(map.part, work), map.inputs,
              map.outputs, below);
    if (map.part == kAttentionOut || map.part == kFeedForwardOut) {
      count.Bottleneck(map.name, RowsOf(map.part, work), map.outputs,
                       below || gradients.Map(map.name));
    }
  }
  return count.flops();
}

}  // namespace frostline::trainer
