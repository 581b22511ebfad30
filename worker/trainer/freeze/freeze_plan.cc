// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/freeze_plan.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace frostline::trainer {
namespace {

constexpr char kPooler[] = "pooler";

std::string LayerName(std::int64_t layer) {
  return "layer." + std::to_string(layer);
}

// The modules that could speak for a weight, the finest first.
std::vector<std::string> Deciders(const ParameterSpec& spec) {
  switch (spec.part) {
    case Part::kEmbeddings:
      return {"embeddings"};
    case Part::kAttention:
      return {LayerName(spec.layer) + ".attention", LayerName(spec.layer)};
    case Part::kFeedForward:
      return {LayerName(spec.layer) + ".ffn", LayerName(spec.layer)};
    case Part::kPooler:
      return {kPooler, "head"};
    case Part::kHead:
      if (spec.task.empty()) return {"head"};
      return {"head." + spec.task, "head"};
  }
  return {};
}

std::string ModuleOfHead(const HeadSpec& head) {
  return head.name.empty() ? "head" : "head." + head.name;
}

std::string AttentionHead(std::int64_t layer, std::int64_t head) {
  return LayerName(layer) + ".head." + std::to_string(head);
}

std::optional<double> FirstOf(const std::vector<std::string>& names,
                              const ModuleRates& rates) {
  for (const std::string& name : names) {
    const auto rate = rates.find(name);
    if (rate != rates.end()) return rate->second;
  }
  return std::nullopt;
}

// All that may have a rate, the finer modules too.
std::set<std::string> KnownModules(const ModelConfig& config,
                                   const Heads& heads) {
  std::set<std::string> known;
  for (const std::string& name : ModuleNames(config, heads)) known.insert(name);
  known.insert("head");  // of all tasks
  for (std::int64_t i = 0; i < config.layers; ++i) {
    known.insert(LayerName(i) + ".attention");
    known.insert(LayerName(i) + ".ffn");
    for (std::int64_t j = 0; j < config.heads && !config.shares_heads(); ++j) {
      known.insert(AttentionHead(i, j));
    }
  }
  return known;
}

// ", head", or ", head.sst, head.sts".
std::string HeadsInWords(const Heads& heads) {
  std::string words;
  for (const HeadSpec& head : heads) words += ", " + ModuleOfHead(head);
  return words;
}

// "embeddings, layer.0 to layer.5, head, and of each layer attention, ffn,
// head.0 to head.11".
std::string ModulesInWords(const ModelConfig& config, const Heads& heads) {
  const auto last = [](std::int64_t count) {
    return std::to_string(count - 1);
  };
  return "embeddings, layer.0 to layer." + last(config.layers) +
         (HasPooler(config, heads) ? ", pooler" : "") + HeadsInWords(heads) +
         ", and of each layer attention, ffn" +
         (config.shares_heads() ? ""
                                : ", head.0 to head." + last(config.heads));
}

// A decoder may tell next tokens by the table of its embeddings.
bool HasHead(const ModelConfig& config, const Heads& heads) {
  return !HeadParametersOf(config, heads).empty();
}

Fault NoModule(const std::string& model, const std::string& module,
               const ModelConfig& config, const Heads& heads) {
  const std::string fix = module == kPooler
                              ? "say no_pooler: true in the study's model"
                              : "let model.layers and the space fit the model";
  return {FaultKind::kMisuse,
          model + " has no module " + module + "; it has " +
              ModulesInWords(config, heads),
          fix};
}

// What stays as it was pretrained because something else trains in its place.
// With ranks by module this holds of the modules that have one.
bool Stays(const ModelConfig& config, const ParameterSpec& spec,
           const ModuleRates& rates, Tuned tuned) {
  const bool encoder = spec.part == Part::kEmbeddings || spec.layer >= 0;
  if (!encoder) return false;
  if (tuned == Tuned::kBiases) return !spec.is_bias();
  if (!config.adapted() || spec.adapts()) return false;
  return config.lora.ranks.empty() ||
         config.lora.ranks.contains(DecidingModule(spec, rates));
}

// What a study says to get adapters, or biases alone.
std::string Chosen(const ModelConfig& config) {
  if (!config.lora.ranks.empty()) return "ranks";
  if (config.lora.any()) return "training.lora";
  return config.bottleneck.any() ? "training.adapters" : "training.trains";
}

// Where not all weights train, a rate that moves nothing would be taken for one
// that did.
Expected<Done> CheckMoves(const ModelConfig& config, const Heads& heads,
                          const ModuleRates& rates, Tuned tuned) {
  std::set<std::string> moved = {kPooler};
  for (const HeadSpec& head : heads) moved.insert(ModuleOfHead(head));
  for (const ParameterSpec& spec : ParametersOf(config, heads)) {
    if (Stays(config, spec, rates, tuned)) continue;
    for (const std::string& module : Deciders(spec)) moved.insert(module);
  }
  for (const auto& [name, rate] : rates) {
    const bool of_head = name.find(".head.") != std::string::npos;
    if (of_head && config.adapted() && config.lora.ranks.empty()) {
      return Fault{
          FaultKind::kMisuse,
          "single attention heads (" + name +
              ") share the adapter of their layer",
          "give rates to whole layers, or train without " + Chosen(config)};
    }
    if (rate == 0.0 || of_head || moved.contains(name)) continue;
    return Fault{FaultKind::kMisuse,
                 "the rate of " + name + " would move nothing: " +
                     Chosen(config) + " has nothing there to train",
                 "freeze it, or train without " + Chosen(config)};
  }
  return Done{};
}

// A rank is of a module that decides by itself, as its rate does.
Expected<Done> CheckRanks(const ModelConfig& config, const ModuleRates& rates) {
  for (const auto& [module, rank] : config.lora.ranks) {
    const bool of_layer = module.starts_with("layer.") &&
                          module.find(".head.") == std::string::npos;
    if (of_layer && rates.contains(module)) continue;
    return Fault{FaultKind::kMisuse,
                 "the rank of " + module + " is " + std::to_string(rank) +
                     (of_layer ? ", and it has no rate of its own"
                               : ", and it has no linear maps to adapt"),
                 "give ranks to layers, or to layer.N.attention and "
                 "layer.N.ffn, that have rates"};
  }
  return Done{};
}

// Rates of single heads, where they are not all the same.
std::vector<double> HeadRates(const ModelConfig& config,
                              const ParameterSpec& spec,
                              const ModuleRates& rates) {
  std::vector<double> each;
  for (std::int64_t j = 0; j < config.heads; ++j) {
    std::vector<std::string> deciders = Deciders(spec);
    deciders.insert(deciders.begin(), AttentionHead(spec.layer, j));
    const std::optional<double> rate = FirstOf(deciders, rates);
    if (!rate) return {};
    each.push_back(*rate);
  }
  return each;
}

Expected<ParameterPlan> PlanFor(const ModelConfig& config,
                                const ParameterSpec& spec,
                                const ModuleRates& rates,
                                const FreezeSemantics& semantics) {
  ParameterPlan plan;
  std::optional<double> rate = FirstOf(Deciders(spec), rates);
  if (spec.head_axis != HeadAxis::kNone) {
    std::vector<double> each = HeadRates(config, spec, rates);
    const bool same =
        !each.empty() && std::count(each.begin(), each.end(), each.front()) ==
                             static_cast<std::ptrdiff_t>(each.size());
    if (same) rate = each.front();
    if (!same) plan.head_rates = std::move(each);
  }
  if (!rate && plan.head_rates.empty()) {
    return Fault{FaultKind::kInconsistent,
                 "there is no rate for " + Deciders(spec).back() + " (" +
                     spec.name + ")",
                 "let model.layers and the space of the study fit the model"};
  }
  if (Stays(config, spec, rates, semantics.tuned)) return ParameterPlan{};
  plan.rate = rate.value_or(0.0);
  plan.needs_gradient = semantics.mode == FreezeMode::kLr0 || plan.trains();
  return plan;
}

std::int64_t SizeOf(const ParameterSpec& spec) {
  std::int64_t size = 1;
  for (const std::int64_t dimension : spec.shape) size *= dimension;
  return size;
}

std::int64_t TrainedWeights(const ParameterSpec& spec,
                            const ParameterPlan& plan) {
  if (plan.head_rates.empty()) return plan.rate > 0.0 ? SizeOf(spec) : 0;
  const auto heads = static_cast<std::int64_t>(plan.head_rates.size());
  const auto trained =
      heads - std::count(plan.head_rates.begin(), plan.head_rates.end(), 0.0);
  return SizeOf(spec) / heads * trained;
}

// 0 the embeddings, 1 + i layer i; the head is above all.
std::int64_t BlockOf(const ParameterSpec& spec, const ModelConfig& config) {
  if (spec.part == Part::kEmbeddings) return 0;
  return spec.layer < 0 ? 1 + config.layers : 1 + spec.layer;
}

}  // namespace

bool ParameterPlan::trains() const {
  return head_rates.empty()
             ? rate > 0.0
             : std::any_of(head_rates.begin(), head_rates.end(),
                           [](double each) { return each > 0.0; });
}

double ParameterPlan::fastest() const {
  return head_rates.empty() ? rate : std::ranges::max(head_rates);
}

std::vector<std::string> ModuleNames(const ModelConfig& config,
                                     const Heads& heads) {
  std::vector<std::string> names = {"embeddings"};
  for (std::int64_t i = 0; i < config.layers; ++i) {
    names.push_back(LayerName(i));
  }
  if (HasPooler(config, heads)) names.emplace_back(kPooler);
  for (const HeadSpec& head : heads) names.push_back(ModuleOfHead(head));
  return names;
}

std::string ModuleOf(const ParameterSpec& spec) {
  const bool top = spec.part == Part::kPooler || spec.part == Part::kHead;
  return top ? Deciders(spec).front() : Deciders(spec).back();
}

std::string DecidingModule(const ParameterSpec& spec,
                           const ModuleRates& rates) {
  for (const std::string& name : Deciders(spec)) {
    if (rates.contains(name)) return name;
  }
  return ModuleOf(spec);
}

bool IsWithin(const ParameterSpec& spec, const std::string& module) {
  const std::vector<std::string> names = Deciders(spec);
  return ModuleOf(spec) == module ||
         (spec.layer >= 0 && std::ranges::find(names, module) != names.end());
}

Expected<Done> CheckModules(const std::string& model, const ModelConfig& config,
                            const Heads& heads, const ModuleRates& rates,
                            const std::set<std::string>& searched) {
  const std::set<std::string> known = KnownModules(config, heads);
  if (searched.contains("head") && !HasHead(config, heads)) {
    return Fault{FaultKind::kMisuse,
                 "the rate of head is searched, and " + model +
                     " tells next tokens by the table of its embeddings",
                 "give head the rate 0, and search embeddings"};
  }
  for (const auto& [name, rate] : rates) {
    const bool in_vain = name != kPooler || searched.contains(name);
    if (in_vain && !known.contains(name)) {
      return NoModule(model, name, config, heads);
    }
    if (std::isfinite(rate) && rate >= 0.0) continue;
    return Fault{FaultKind::kMisuse,
                 "the rate of " + name + " is " + std::to_string(rate),
                 "search rates that are 0 or more"};
  }
  return Done{};
}

Expected<FreezePlan> MakeFreezePlan(const ModelConfig& config,
                                    const Heads& heads,
                                    const ModuleRates& rates,
                                    const FreezeSemantics& semantics) {
  FreezePlan plan;
  plan.semantics = semantics;
  Expected<Done> named = CheckModules("the model", config, heads, rates, {});
  if (named.ok()) named = CheckRanks(config, rates);
  if (named.ok() && (config.adapted() || semantics.tuned != Tuned::kAll)) {
    named = CheckMoves(config, heads, rates, semantics.tuned);
  }
  if (!named.ok()) return named.fault();
  if (rates.contains(kPooler) && !HasPooler(config, heads)) {
    plan.absent.emplace_back(kPooler);
  }
  if (!HasHead(config, heads)) plan.absent.emplace_back("head");
  plan.prefix_blocks = 1 + config.layers;
  for (const ParameterSpec& spec : ParametersOf(config, heads)) {
    ASSIGN_OR_FAULT(ParameterPlan each,
                    PlanFor(config, spec, rates, semantics));
    plan.trained_weights += TrainedWeights(spec, each);
    if (each.trains()) {
      plan.prefix_blocks = std::min(plan.prefix_blocks, BlockOf(spec, config));
    }
    plan.parameters.push_back(std::move(each));
  }
  const bool hard = semantics.mode == FreezeMode::kHard;
  plan.frozen_blocks = hard ? plan.prefix_blocks : 0;
  return plan;
}

std::vector<std::string> VirtuallyFrozen(
    const ModuleRates& rates, const std::map<std::string, WeightSize>& sizes,
    const StepBound& bound, double factors, double tau) {
  std::vector<std::string> names;
  for (const auto& [name, rate] : rates) {
    const auto found = sizes.find(name);
    if (rate == 0.0 || tau == 0.0 || found == sizes.end()) continue;
    const auto& [size, count] = found->second;
    // While the rule holds, no weight has grown by more than tau of it.
    const double step = bound.each + bound.together / std::sqrt(count) +
                        bound.decay * (1.0 + tau) * size;
    if (rate * factors * step <= tau * size) names.push_back(name);
  }
  return names;
}

}  // namespace frostline::trainer
