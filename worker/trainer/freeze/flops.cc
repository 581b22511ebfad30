// SPDX-License-Identifier: Apache-2.0
//
// A linear map costs W forward; backward it costs W for the gradient of its
// weights and W for that of its input. Attention's two products, without
// weights, cost S forward and 2 S backward. Each is needed or not:
//   of the weights   when they train,
//   of the input     when anything nearer to the text trains.
// An adapter is two maps of its own, B behind A, beside the one it adapts.
#include "worker/trainer/freeze/flops.h"

#include <set>
#include <string>
#include <utility>

namespace frostline::trainer {
namespace {

// What has a gradient, by part and by name.
class Trained {
 public:
  Trained(const ModelConfig& config, const HeadSpec& head,
          const FreezePlan& plan) {
    const std::vector<ParameterSpec> specs = ParametersOf(config, head);
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (!plan.parameters[i].needs_gradient) continue;
      parts_.emplace(specs[i].part, specs[i].layer);
      if (specs[i].layer >= 0) names_.insert(specs[i].name);
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
  bool Map(const std::string& linear) const {
    return Weight(linear) || Adapter(linear);
  }

 private:
  std::set<std::pair<Part, std::int64_t>> parts_;
  std::set<std::string> names_;  // of layers
};

double Linear(std::int64_t rows, std::int64_t inputs, std::int64_t outputs) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(inputs) *
         static_cast<double>(outputs);
}

// Adds up a layer.
class LayerCount {
 public:
  LayerCount(const ModelConfig& config, const Trained& trained)
      : lora_(config.lora), trained_(trained) {}

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

  // A product of two things, each of which has a gradient or not.
  void Product(double forward, bool one, bool other) {
    flops_.forward += forward;
    flops_.backward += (one ? forward : 0.0) + (other ? forward : 0.0);
    flops_.skipped = 2.0 * flops_.forward - flops_.backward;
  }

  const ModuleFlops& flops() const { return flops_; }

 private:
  const LoraSpec& lora_;
  const Trained& trained_;
  ModuleFlops flops_;
};

// `below`: something nearer to the text has a gradient. Of each text `asking`
// tokens go through the layer, and look at all.
ModuleFlops LayerFlops(const ModelConfig& config, const Trained& trained,
                       std::int64_t layer, bool below, std::int64_t texts,
                       std::int64_t tokens, std::int64_t asking) {
  using enum LoraPart;
  const LayerNames names = LayerNamesOf(config, layer);
  const std::int64_t hidden = config.hidden;
  const std::int64_t wide = config.feed_forward;
  const std::int64_t all = texts * tokens;
  const std::int64_t rows = texts * asking;
  const double sight = Linear(rows, tokens, hidden);
  LayerCount count(config, trained);
  count.Map(kQuery, names.query, rows, hidden, hidden, below);
  count.Map(kKey, names.key, all, hidden, hidden, below);
  count.Map(kValue, names.value, all, hidden, hidden, below);
  const bool query = below || trained.Map(names.query);
  const bool key = below || trained.Map(names.key);
  const bool value = below || trained.Map(names.value);
  count.Product(sight, query, key);           // scores
  count.Product(sight, query || key, value);  // what is seen
  count.Map(kAttentionOut, names.attention_out, rows, hidden, hidden,
            query || key || value);
  const bool attention = below || trained(Part::kAttention, layer);
  count.Map(kFeedForwardIn, names.up, rows, hidden, wide, attention);
  count.Map(kFeedForwardOut, names.down, rows, wide, hidden,
            attention || trained.Map(names.up));
  return count.flops();
}

ModuleFlops TopFlops(double forward, bool trained, bool below) {
  ModuleFlops flops;
  flops.forward = forward;
  flops.backward = (trained ? forward : 0.0) + (below ? forward : 0.0);
  flops.skipped = 2.0 * forward - flops.backward;
  return flops;
}

// Of the part that maps hidden states to outputs.
double HeadForward(const ModelConfig& config, const HeadSpec& head,
                   std::int64_t texts, std::int64_t tokens) {
  double forward = 0.0;
  for (const ParameterSpec& spec : ParametersOf(config, head)) {
    if (spec.part != Part::kHead || spec.role != Role::kWeight) continue;
    const std::int64_t rows =
        head.task == Task::kTokens ? texts * tokens : texts;
    forward += Linear(rows, spec.shape[1], spec.shape[0]);
  }
  return forward;
}

template <typename Member>
double Sum(const std::vector<ModuleFlops>& modules, Member member) {
  double sum = 0.0;
  for (const ModuleFlops& each : modules) sum += each.*member;
  return sum;
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

StepFlops CountFlops(const ModelConfig& config, const HeadSpec& head,
                     const FreezePlan& plan, std::int64_t texts,
                     std::int64_t tokens) {
  const Trained trained(config, head, plan);
  StepFlops step;
  bool below = trained(Part::kEmbeddings);
  step.modules.push_back({"embeddings", 0.0, 0.0, 0.0});  // a look-up
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const bool few = ReadsFirstToken(head) && i + 1 == config.layers;
    step.modules.push_back(
        LayerFlops(config, trained, i, below, texts, tokens, few ? 1 : tokens));
    below =
        below || trained(Part::kAttention, i) || trained(Part::kFeedForward, i);
  }
  if (HasPooler(config, head)) {
    step.modules.push_back(TopFlops(Linear(texts, config.hidden, config.hidden),
                                    trained(Part::kPooler), below));
    below = below || trained(Part::kPooler);
  }
  step.modules.push_back(TopFlops(HeadForward(config, head, texts, tokens),
                                  trained(Part::kHead), below));
  const std::vector<std::string> names = ModuleNames(config, head);
  for (std::size_t i = 0; i < names.size(); ++i) {
    step.modules[i].module = names[i];
  }
  return step;
}

}  // namespace frostline::trainer
