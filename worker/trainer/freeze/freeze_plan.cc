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
      return {"head"};
  }
  return {};
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
                                   const HeadSpec& head) {
  std::set<std::string> known;
  for (const std::string& name : ModuleNames(config, head)) known.insert(name);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    known.insert(LayerName(i) + ".attention");
    known.insert(LayerName(i) + ".ffn");
    for (std::int64_t j = 0; j < config.heads; ++j) {
      known.insert(AttentionHead(i, j));
    }
  }
  return known;
}

// "embeddings, layer.0 to layer.5, head, and of each layer attention, ffn,
// head.0 to head.11".
std::string ModulesInWords(const ModelConfig& config, const HeadSpec& head) {
  const auto last = [](std::int64_t count) {
    return std::to_string(count - 1);
  };
  return "embeddings, layer.0 to layer." + last(config.layers) +
         (HasPooler(config, head) ? ", pooler, head" : ", head") +
         ", and of each layer attention, ffn, head.0 to head." +
         last(config.heads);
}

Fault NoModule(const std::string& model, const std::string& module,
               const ModelConfig& config, const HeadSpec& head) {
  const std::string fix = module == kPooler
                              ? "say no_pooler: true in the study's model"
                              : "let model.layers and the space fit the model";
  return {FaultKind::kMisuse,
          model + " has no module " + module + "; it has " +
              ModulesInWords(config, head),
          fix};
}

// Where the model has adapters, they are all that trains of the encoder: a rate
// that moves none of them would be taken for one that did.
Expected<Done> CheckLoraRates(const ModelConfig& config,
                              const ModuleRates& rates) {
  const auto idle = [](const std::string& name, const std::string& fix) {
    return Fault{FaultKind::kMisuse,
                 "the rate of " + name +
                     " would move nothing: training.lora puts no adapter there",
                 fix};
  };
  const auto moves = [&](const std::string& name) {
    const auto rate = rates.find(name);
    return rate != rates.end() && rate->second > 0.0;
  };
  if (moves("embeddings")) {
    return idle("embeddings", "freeze the embeddings, or train without lora");
  }
  for (const auto& [name, rate] : rates) {
    if (name.find(".head.") == std::string::npos) continue;
    return Fault{FaultKind::kMisuse,
                 "single attention heads (" + name +
                     ") share the adapter of their layer",
                 "give rates to whole layers, or train without lora"};
  }
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string layer = LayerName(i);
    if (moves(layer + ".attention") && !config.lora.on_attention()) {
      return idle(layer + ".attention",
                  "freeze it, or name query in training.lora.modules");
    }
    if (moves(layer + ".ffn") && !config.lora.on_feed_forward()) {
      return idle(layer + ".ffn",
                  "freeze it, or name ffn_in in training.lora.modules");
    }
  }
  return Done{};
}

// What stays as it was pretrained because adapters train in its place.
bool IsAdapted(const ModelConfig& config, const ParameterSpec& spec) {
  const bool encoder = spec.part == Part::kEmbeddings || spec.layer >= 0;
  return config.lora.any() && encoder && !spec.adapts();
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
                                const ModuleRates& rates, FreezeMode mode) {
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
  if (IsAdapted(config, spec)) return ParameterPlan{};
  plan.rate = rate.value_or(0.0);
  plan.needs_gradient = mode == FreezeMode::kLr0 || plan.trains();
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

std::vector<std::string> ModuleNames(const ModelConfig& config,
                                     const HeadSpec& head) {
  std::vector<std::string> names = {"embeddings"};
  for (std::int64_t i = 0; i < config.layers; ++i) {
    names.push_back(LayerName(i));
  }
  if (HasPooler(config, head)) names.emplace_back(kPooler);
  names.emplace_back("head");
  return names;
}

std::string ModuleOf(const ParameterSpec& spec) {
  return spec.part == Part::kPooler ? kPooler : Deciders(spec).back();
}

Expected<Done> CheckModules(const std::string& model, const ModelConfig& config,
                            const HeadSpec& head, const ModuleRates& rates,
                            const std::set<std::string>& searched) {
  const std::set<std::string> known = KnownModules(config, head);
  for (const auto& [name, rate] : rates) {
    const bool in_vain = name != kPooler || searched.contains(name);
    if (in_vain && !known.contains(name)) {
      return NoModule(model, name, config, head);
    }
    if (std::isfinite(rate) && rate >= 0.0) continue;
    return Fault{FaultKind::kMisuse,
                 "the rate of " + name + " is " + std::to_string(rate),
                 "search rates that are 0 or more"};
  }
  return Done{};
}

Expected<FreezePlan> MakeFreezePlan(const ModelConfig& config,
                                    const HeadSpec& head,
                                    const ModuleRates& rates,
                                    const FreezeSemantics& semantics) {
  FreezePlan plan;
  plan.semantics = semantics;
  Expected<Done> named = CheckModules("the model", config, head, rates, {});
  if (named.ok() && config.lora.any()) named = CheckLoraRates(config, rates);
  if (!named.ok()) return named.fault();
  if (rates.contains(kPooler) && !HasPooler(config, head)) {
    plan.absent.emplace_back(kPooler);
  }
  plan.prefix_blocks = 1 + config.layers;
  for (const ParameterSpec& spec : ParametersOf(config, head)) {
    Expected<ParameterPlan> each = PlanFor(config, spec, rates, semantics.mode);
    if (!each.ok()) return each.fault();
    plan.trained_weights += TrainedWeights(spec, each.value());
    if (each.value().trains()) {
      plan.prefix_blocks = std::min(plan.prefix_blocks, BlockOf(spec, config));
    }
    plan.parameters.push_back(std::move(each).value());
  }
  const bool hard = semantics.mode == FreezeMode::kHard;
  plan.frozen_blocks = hard ? plan.prefix_blocks : 0;
  return plan;
}

}  // namespace frostline::trainer
