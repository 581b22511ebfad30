// SPDX-License-Identifier: Apache-2.0
//
// A linear map costs W forward; backward it costs W for the gradient of its
// weights and W for that of its input. Attention's two products, without
// weights, cost S forward and 2 S backward. Each is needed or not:
//   of the weights   when they train,
//   of the input     when anything nearer to the text trains.
// An adapter is two maps of its own, one behind the other, beside the one it
// adapts or behind it.
#include "worker/trainer/freeze/flops.h"

#include <map>
#include <set>
#include <string>
#include <utility>

namespace frostline::trainer {
namespace {

// What has a gradient, by part and by name.
class Trained {
 public:
  Trained() = default;  // nothing
  Trained(const ModelConfig& config, const Heads& heads, std::size_t task,
          const FreezePlan& plan) {
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

  bool operator()(Part part, std::int64_t layer = -1) const {
    return parts_.contains({part, layer});
  }
  bool Weight(const std::string& linear) const {
    return names_.contains(linear + ".weight");
  }
  bool Adapter(const std::string& linear) const {
    return names_.contains(LoraANameOf(linear));
  }
  bool Behind(const std::string& linear) const {
    return names_.contains(DownNameOf(linear) + ".weight");
  }
  // The weight of the map behind tables that are narrower than the layers.
  bool Projection() const { return projection_; }
  // What the map gives has a gradient, be its own input without.
  bool Map(const std::string& linear) const {
    return Weight(linear) || names_.contains(linear + ".bias") ||
           Adapter(linear);
  }

 private:
  std::set<std::pair<Part, std::int64_t>> parts_;
  std::set<std::string> names_;  // of layers
  bool projection_ = false;
};

double Linear(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inputs) *
         static_cast<double>(outputs);
}

// Adds a product of two things, each of which has a gradient or not.
void AddProduct(double forward, bool one, bool other, ModuleFlops& flops) {
  flops.forward += forward;
  flops.backward += (one ? forward : 0.0) + (other ? forward : 0.0);
  flops.skipped = 2.0 * flops.forward - flops.backward;
}

// Adds up a layer.
class LayerCount {
 public:
  LayerCount(const ModelConfig& config, const Trained& trained)
      : lora_(config.lora), bottleneck_(config.bottleneck), trained_(trained) {}

  // `rows` tokens pass through the map. `below`: something nearer to the text
  // has a gradient.
  void Map(LoraPart part, const std::string& name, std::int64_t rows,
           std::int64_t inputs, std::int64_t outputs, bool below) {
    const double whole = Linear(rows, inputs, outputs);
    Product(whole, trained_.Weight(name), below);
    if (!lora_.on(part)) return;
    const bool adapts = trained_.Adapter(name);
    Product(Linear(rows, inputs, lora_.rank), adapts, below);             // A
    Product(Linear(rows, lora_.rank, outputs), adapts, adapts || below);  // B
  }

  // Behind the map, on rows of `width` that have a gradient or not.
  void Bottleneck(const std::string& name, std::int64_t rows,
                  std::int64_t width, bool below) {
    if (!bottleneck_.any()) return;
    const double one = Linear(rows, width, bottleneck_.size);
    const bool trains = trained_.Behind(name);
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
  const Trained& trained_;
  ModuleFlops flops_;
};

// What a layer has to do with `texts` of `tokens`, of which `asking` go through
// it and look at all. `below`: something nearer to the text has a gradient;
// `table`: the embeddings have.
struct LayerWork {
  std::int64_t layer, texts, tokens, asking;
  bool below, table;
};

// Rows of a map: of every token where others look at it.
std::int64_t RowsOf(LoraPart part, const LayerWork& work) {
  const bool looked_at = part == LoraPart::kKey || part == LoraPart::kValue ||
                         part == LoraPart::kQueryKeyValue;
  return work.texts * (looked_at ? work.tokens : work.asking);
}

// Distances go through query and key once for a batch, and are compared with
// keys and queries. Nothing below gives them a gradient but their own table.
void CountDistances(const ModelConfig& config, const Trained& trained,
                    const LayerWork& work, LayerCount& count) {
  const std::int64_t rows = 2 * config.span();
  if (rows == 0) return;
  const LayerNames names = LayerNamesOf(config, work.layer);
  count.Map(LoraPart::kQuery, names.query, rows, config.hidden, config.hidden,
            work.table);
  count.Map(LoraPart::kKey, names.key, rows, config.hidden, config.hidden,
            work.table);
  const bool query = trained.Map(names.query);
  const bool key = trained.Map(names.key);
  count.Product(Linear(work.texts * work.asking, rows, config.hidden),
                work.below || query, work.table || key);
  count.Product(Linear(work.texts * work.tokens, rows, config.hidden),
                work.below || key, work.table || query);
}

ModuleFlops LayerFlops(const ModelConfig& config, const Trained& trained,
                       const LayerWork& work) {
  using enum LoraPart;
  const double sight =
      Linear(work.texts * work.asking, work.tokens, config.hidden);
  LayerCount count(config, trained);
  std::map<LoraPart, bool> has;  // a gradient, behind the map
  for (const LayerMap& map : LayerMapsOf(config, work.layer)) {
    has[map.part] = work.below || trained.Map(map.name);
  }
  const bool query = has[kQuery] || has[kQueryKeyValue];
  const bool key = has[kKey] || has[kQueryKeyValue];
  const bool value = has[kValue] || has[kQueryKeyValue];
  count.Product(sight, query, key);           // scores
  count.Product(sight, query || key, value);  // what is seen
  CountDistances(config, trained, work, count);
  const bool attention = work.below || trained(Part::kAttention, work.layer);
  const LayerNames names = LayerNamesOf(config, work.layer);
  // Of ModernBERT a norm stands before the map, and trains with it.
  const auto before = [&](const std::string& norm) {
    return config.family == Family::kModernBert && trained.Weight(norm);
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
                       below || trained.Map(map.name));
    }
  }
  return count.flops();
}

// Look-ups, and ELECTRA's map from narrower tables.
ModuleFlops EmbeddingFlops(const ModelConfig& config, const Trained& trained,
                           std::int64_t rows) {
  ModuleFlops flops;
  if (config.table_width() == config.hidden) return flops;
  AddProduct(Linear(rows, config.table_width(), config.hidden),
             trained.Projection(), trained(Part::kEmbeddings), flops);
  return flops;
}

// Of the part that maps hidden states to outputs. A second map reads what the
// first one gives, which has a gradient where that trains.
ModuleFlops HeadFlops(const ModelConfig& config, const HeadSpec& head,
                      std::int64_t texts, std::int64_t tokens, bool trained,
                      bool below) {
  ModuleFlops flops;
  // Of a pair most maps read both texts at once.
  const bool both = head.apart() && head.kind != HeadKind::kCosine;
  const std::int64_t pairs = both ? texts / 2 : texts;
  const std::int64_t rows = head.task == Task::kTokens ? texts * tokens : pairs;
  const bool chained = head.kind != HeadKind::kInnerProduct;
  for (const ParameterSpec& spec : HeadParametersOf(config, head)) {
    if (spec.part != Part::kHead || spec.role != Role::kWeight) continue;
    AddProduct(Linear(rows, spec.shape[1], spec.shape[0]), trained, below,
               flops);
    below = below || (chained && trained);
  }
  return flops;
}

template <typename Member>
double Sum(const std::vector<ModuleFlops>& modules, Member member) {
  double sum = 0.0;
  for (const ModuleFlops& each : modules) sum += each.*member;
  return sum;
}

StepFlops Count(const ModelConfig& config, const Heads& heads,
                const Trained& trained, std::int64_t texts, std::int64_t tokens,
                std::size_t task) {
  StepFlops step;
  const bool table = trained(Part::kEmbeddings);
  bool below = table;
  step.modules.push_back(EmbeddingFlops(config, trained, texts * tokens));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const bool few = ReadsFirstToken(config, heads) && i + 1 == config.layers;
    step.modules.push_back(LayerFlops(
        config, trained, {i, texts, tokens, few ? 1 : tokens, below, table}));
    below =
        below || trained(Part::kAttention, i) || trained(Part::kFeedForward, i);
  }
  if (HasPooler(config, heads)) step.modules.emplace_back();
  if (HasPooler(config, heads[task])) {
    AddProduct(Linear(texts, config.hidden, config.hidden),
               trained(Part::kPooler), below, step.modules.back());
    below = below || trained(Part::kPooler);
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    step.modules.push_back(i == task
                               ? HeadFlops(config, heads[i], texts, tokens,
                                           trained(Part::kHead), below)
                               : ModuleFlops());
  }
  const std::vector<std::string> names = ModuleNames(config, heads);
  for (std::size_t i = 0; i < names.size(); ++i) {
    step.modules[i].module = names[i];
  }
  return step;
}

}  // namespace

double StepFlops::forward() const {
  return Sum(modules, &ModuleFlops::forward);
}
double StepFlops::backward() const {
  return Sum(modules, &ModuleFlops::backward);
}
double StepFlops::skipped() const {
  return Sum(modules, &ModuleFlops::skipped);
}

StepFlops CountFlops(const ModelConfig& config, const Heads& heads,
                     const FreezePlan& plan, std::int64_t texts,
                     std::int64_t tokens, std::size_t task) {
  return Count(config, heads, Trained(config, heads, task, plan), texts, tokens,
               task);
}

double CountPrefix(const ModelConfig& config, const Heads& heads,
                   std::int64_t blocks, std::int64_t texts,
                   std::int64_t batches, std::int64_t tokens) {
  const auto forward = [&](std::int64_t together) {
    const StepFlops step =
        Count(config, heads, Trained(), together, tokens, 0);
    double sum = 0.0;
    for (std::int64_t i = 0; i < blocks; ++i) {
      sum += step.modules[static_cast<std::size_t>(i)].forward;
    }
    return sum;
  };
  const double text = forward(2) - forward(1);
  const double batch = forward(1) - text;
  return static_cast<double>(texts) * text +
         static_cast<double>(batches) * batch;
}

}  // namespace frostline::trainer
