// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/flops.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace frostline::trainer {
namespace {

// Look-ups, and ELECTRA's map from narrower tables.
ModuleFlops EmbeddingFlops(const ModelConfig& config,
                           const Gradients& gradients, std::int64_t rows) {
  ModuleFlops flops;
  if (config.table_width() == config.hidden) return flops;
  AddProduct(ProductFlops(rows, config.table_width(), config.hidden),
             gradients.Projection(), gradients(Part::kEmbeddings), flops);
  return flops;
}

// Returns the operations of the part that maps hidden states to outputs. A
// second map reads the first one's result, which has a gradient where the first
// one trains.
ModuleFlops HeadFlops(const ModelConfig& config, const HeadSpec& head,
                      std::int64_t texts, std::int64_t tokens, bool trains,
                      bool below) {
  ModuleFlops flops;
  // Most maps read both texts of a pair at once.
  const bool both = head.apart() && head.kind != HeadKind::kCosine;
  const std::int64_t pairs = both ? texts / 2 : texts;
  const std::int64_t rows = head.task == Task::kTokens ? texts * tokens : pairs;
  const bool chained = !head.has_two_maps();
  for (const ParameterSpec& spec : HeadParametersOf(config, head)) {
    if (spec.part != Part::kHead || spec.role != Role::kWeight) continue;
    AddProduct(ProductFlops(rows, spec.shape[1], spec.shape[0]), trains, below,
               flops);
    below = below || (chained && trains);
  }
  return flops;
}

template <typename Member>
double Sum(const std::vector<ModuleFlops>& modules, Member member) {
  double sum = 0.0;
  for (const ModuleFlops& each : modules) sum += each.*member;
  return sum;
}

// Returns the operations of telling the tokens of answers.
ModuleFlops AnswerFlops(const ModelConfig& config, std::int64_t answered,
                        const Gradients& gradients, bool below) {
  ModuleFlops flops;
  AddProduct(ProductFlops(answered, config.hidden, config.vocabulary),
             gradients(config.tied ? Part::kEmbeddings : Part::kHead), below,
             flops);
  return flops;
}

// A batch of one task.
struct Texts {
  std::int64_t texts, tokens;
  std::size_t task;
  std::int64_t answered = 0;
};

// What block `given` reads, and all above, has a gradient besides; -1: nothing.
StepFlops Count(const ModelConfig& config, const Heads& heads,
                const Gradients& gradients, const Texts& batch,
                std::int64_t given) {
  const auto [texts, tokens, task, answered] = batch;
  StepFlops step;
  const bool table = gradients(Part::kEmbeddings);
  bool below = table;
  step.modules.push_back(EmbeddingFlops(config, gradients, texts * tokens));
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const bool few = ReadsFirstToken(config, heads) && i + 1 == config.layers;
    below = below || 1 + i == given;
    step.modules.push_back(LayerFlops(
        config, gradients, {i, texts, tokens, few ? 1 : tokens, below, table}));
    below = below || gradients(Part::kAttention, i) ||
            gradients(Part::kFeedForward, i);
  }
  below = below || 1 + config.layers == given;
  if (HasPooler(config, heads)) step.modules.emplace_back();
  if (HasPooler(config, heads[task])) {
    AddProduct(ProductFlops(texts, config.hidden, config.hidden),
               gradients(Part::kPooler), below, step.modules.back());
    below = below || gradients(Part::kPooler);
  }
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (i != task) {
      step.modules.emplace_back();
    } else if (heads[i].task == Task::kAnswers) {
      step.modules.push_back(AnswerFlops(config, answered, gradients, below));
    } else {
      step.modules.push_back(HeadFlops(config, heads[i], texts, tokens,
                                       gradients(Part::kHead), below));
    }
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
                     std::int64_t tokens, std::size_t task,
                     std::int64_t answered) {
  return Count(config, heads, Gradients(config, heads, task, plan),
               {texts, tokens, task, answered}, -1);
}

StepFlops CountInputFlops(const ModelConfig& config, const Heads& heads,
                          std::int64_t from, std::int64_t texts,
                          std::int64_t tokens, std::size_t task) {
  StepFlops pass =
      Count(config, heads, Gradients(), {texts, tokens, task}, from);
  for (std::size_t i = 0; i < pass.modules.size(); ++i) {
    ModuleFlops& module = pass.modules[i];
    module.skipped = 0.0;  // no weight's gradient is asked for
    if (std::cmp_less(i, from)) module.forward = module.backward = 0.0;
  }
  return pass;
}

double CountPrefix(const ModelConfig& config, const Heads& heads,
                   std::int64_t blocks, std::int64_t texts,
                   std::int64_t batches, std::int64_t tokens) {
  const auto forward = [&](std::int64_t together) {
    const StepFlops step =
        Count(config, heads, Gradients(), {together, tokens, 0}, -1);
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

namespace {

// Adds up a layer.
class LayerCount {
 public:
  LayerCount(const ModelConfig& config, const Gradients& gradients,
             std::int64_t layer)
      : lora_(config.lora),
        layer_(layer),
        bottleneck_(config.bottleneck),
        gradients_(gradients) {}

  // `rows` tokens pass through the map. `below`: something nearer to the text
  // has a gradient.
  void Map(LoraPart part, const std::string& name, std::int64_t rows,
           std::int64_t inputs, std::int64_t outputs, bool below) {
    const double whole = ProductFlops(rows, inputs, outputs);
    Product(whole, gradients_.Weight(name), below);
    const std::int64_t rank = lora_.RankOf(part, layer_);
    if (rank == 0) return;
    const bool adapts = gradients_.Adapter(name);
    // A, then B
    Product(ProductFlops(rows, inputs, rank), adapts, below);
    Product(ProductFlops(rows, rank, outputs), adapts, adapts || below);
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
  const std::int64_t layer_;
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
      ProductFlops(work.texts * work.asking, work.tokens, config.query_width());
  LayerCount count(config, gradients, work.layer);
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
  // In ModernBERT and decoders a norm stands before the map, and trains with
  // it.
  const auto before = [&](const std::string& norm) {
    const bool first = config.decoder || config.family == Family::kModernBert;
    return first && gradients.Weight(norm);
  };
  for (const LayerMap& map : LayerMapsOf(config, work.layer)) {
    bool below = work.below || before(names.attention_norm);
    if (map.part == kAttentionOut) below = query || key || value;
    if (map.part == kFeedForwardIn || map.part == kFeedForwardGate) {
      below = attention || before(names.norm);
    }
    if (map.part == kFeedForwardOut) {
      below = attention || has[kFeedForwardIn] || has[kFeedForwardGate];
    }
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
