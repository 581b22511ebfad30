// SPDX-License-Identifier: Apache-2.0
#include "study/freezing.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"

namespace frostline {
namespace {

struct Range {
  int first = 0;
  int last = -1;
};

// "*", "7" or "0-3" within [0, count).
std::optional<Range> ParseRange(const std::string& text, int count) {
  if (text == "*") return Range{0, count - 1};
  const std::vector<std::string> ends = absl::StrSplit(text, '-');
  Range range;
  if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &range.first) ||
      !absl::SimpleAtoi(ends.back(), &range.last)) {
    return std::nullopt;
  }
  if (range.first < 0 || range.first > range.last || range.last >= count) {
    return std::nullopt;
  }
  return range;
}

std::vector<std::string> SelectLayers(const ModelShape& shape,
                                      const std::vector<std::string>& parts) {
  const auto layers = ParseRange(parts[1], shape.num_layers);
  if (!layers.has_value()) return {};
  std::vector<std::string> modules;
  for (int layer = layers->first; layer <= layers->last; ++layer) {
    const std::string name = absl::StrCat("layer.", layer);
    if (parts.size() == 2) {
      modules.push_back(name);
    } else if (parts.size() == 3 &&
               (parts[2] == "attention" || parts[2] == "ffn")) {
      modules.push_back(absl::StrCat(name, ".", parts[2]));
    } else if (parts.size() == 4 && parts[2] == "head") {
      const auto heads = ParseRange(parts[3], shape.heads_per_layer);
      if (!heads.has_value()) return {};
      for (int head = heads->first; head <= heads->last; ++head) {
        modules.push_back(absl::StrCat(name, ".head.", head));
      }
    }
  }
  return modules;
}

bool IsWithin(const std::string& part, const std::string& whole) {
  return part == whole || part.rfind(whole + ".", 0) == 0;
}

bool IsHeadOfAttention(const std::string& head, const std::string& attention) {
  const std::string suffix = ".attention";
  if (attention.size() <= suffix.size() ||
      attention.substr(attention.size() - suffix.size()) != suffix) {
    return false;
  }
  return head.rfind(
             attention.substr(0, attention.size() - suffix.size()) + ".head.",
             0) == 0;
}

}  // namespace

std::vector<std::string> TopModules(const ModelShape& shape) {
  if (shape.num_layers == 0) return {};
  std::vector<std::string> modules = {"embeddings"};
  for (int layer = 0; layer < shape.num_layers; ++layer) {
    modules.push_back(absl::StrCat("layer.", layer));
  }
  if (shape.has_pooler) modules.push_back("pooler");
  for (const std::string& task : shape.tasks) {
    modules.push_back(absl::StrCat("head.", task));
  }
  if (shape.tasks.empty()) modules.push_back("head");
  return modules;
}

absl::StatusOr<std::vector<std::string>> SelectModules(
    const ModelShape& shape, const std::string& selector,
    const std::string& field) {
  const std::vector<std::string> parts = absl::StrSplit(selector, '.');
  std::vector<std::string> selected;
  if (parts.size() >= 2 && parts[0] == "layer") {
    selected = SelectLayers(shape, parts);
  } else {
    for (const std::string& module : TopModules(shape)) {
      const bool all_heads = selector == "head" && IsWithin(module, "head");
      if (module == selector || all_heads) selected.push_back(module);
    }
  }
  if (!selected.empty()) return selected;
  const std::string known = absl::StrJoin(TopModules(shape), ", ");
  return MakeError(
      ErrorId::kModuleUnknown,
      absl::StrCat("'", absl::Utf8SafeCEscape(selector.substr(0, 100)),
                   "' names no module"),
      known.empty() ? "set model.layers, or use space.parameters instead"
                    : absl::StrCat("the modules are ", known,
                                   "; or a range such as layer.0-2"),
      field);
}

int LayerOf(const std::string& module) {
  absl::string_view rest = module;
  int layer = -1;
  if (!absl::ConsumePrefix(&rest, "layer.") ||
      !absl::SimpleAtoi(rest.substr(0, rest.find('.')), &layer)) {
    return -1;
  }
  return layer;
}

bool Overlap(const std::string& a, const std::string& b) {
  return IsWithin(a, b) || IsWithin(b, a) || IsHeadOfAttention(a, b) ||
         IsHeadOfAttention(b, a);
}

namespace {

absl::Status CheckStrategy(const Strategy& strategy, const ModelShape& shape,
                           const std::string& field) {
  if (shape.num_layers == 0) {
    return MakeError(ErrorId::kStudyFieldMissing,
                     "a strategy needs to know the model's layers",
                     "set model.layers", field);
  }
  if (!std::isfinite(strategy.rate) || strategy.rate <= 0.0) {
    return MakeError(ErrorId::kRangeInvalid,
                     absl::StrCat("rate ", strategy.rate, " trains nothing"),
                     "give a rate above 0, e.g. 2e-5", field + ".rate");
  }
  const bool uses_k = strategy.kind == StrategyKind::kFirstK ||
                      strategy.kind == StrategyKind::kLastK;
  if (uses_k && (strategy.k < 0 || strategy.k > shape.num_layers)) {
    return MakeError(ErrorId::kRangeInvalid,
                     absl::StrCat("k = ", strategy.k, " of a model with ",
                                  shape.num_layers, " layers"),
                     absl::StrCat("give a k from 0 to ", shape.num_layers),
                     field + ".k");
  }
  if (strategy.kind == StrategyKind::kDecay &&
      !(strategy.factor > 0.0 && strategy.factor <= 1.0)) {
    return MakeError(
        ErrorId::kRangeInvalid, absl::StrCat("decay factor ", strategy.factor),
        "give a factor above 0 and up to 1, e.g. 0.95", field + ".factor");
  }
  return absl::OkStatus();
}

double RateOfLayer(const Strategy& strategy, int layer, int num_layers) {
  switch (strategy.kind) {
    case StrategyKind::kFull:
      return strategy.rate;
    case StrategyKind::kHeadOnly:
      return 0.0;
    case StrategyKind::kFirstK:
      return layer < strategy.k ? 0.0 : strategy.rate;
    case StrategyKind::kLastK:
      return layer >= num_layers - strategy.k ? strategy.rate : 0.0;
    case StrategyKind::kAlternating:
      return layer % 2 == 0 ? 0.0 : strategy.rate;
    case StrategyKind::kDecay:
      return strategy.rate * std::pow(strategy.factor, num_layers - 1 - layer);
  }
  return strategy.rate;
}

double RateOfEmbeddings(const Strategy& strategy, int num_layers) {
  switch (strategy.kind) {
    case StrategyKind::kHeadOnly:
    case StrategyKind::kLastK:
      return 0.0;
    case StrategyKind::kFirstK:
      return strategy.freeze_embeddings ? 0.0 : strategy.rate;
    case StrategyKind::kDecay:
      return strategy.rate * std::pow(strategy.factor, num_layers);
    case StrategyKind::kFull:
    case StrategyKind::kAlternating:
      return strategy.rate;
  }
  return strategy.rate;
}

}  // namespace

absl::StatusOr<std::vector<ModuleRate>> ApplyStrategy(
    const Strategy& strategy, const ModelShape& shape,
    const std::string& field) {
  RETURN_IF_ERROR(CheckStrategy(strategy, shape, field));
  std::vector<ModuleRate> rates;
  for (const std::string& module : TopModules(shape)) {
    const int layer = LayerOf(module);
    double rate = strategy.rate;  // pooler and head always train
    if (layer >= 0) rate = RateOfLayer(strategy, layer, shape.num_layers);
    if (module == "embeddings") {
      rate = RateOfEmbeddings(strategy, shape.num_layers);
    }
    rates.push_back({module, rate});
  }
  return rates;
}

namespace {

double ChanceOfFrozen(const Domain& domain, double frozen_share) {
  if (const auto* const levels = std::get_if<Levels>(&domain)) {
    return levels->rates.front() == 0.0
               ? 1.0 / static_cast<double>(levels->rates.size())
               : 0.0;
  }
  const auto* const range = std::get_if<LogUniform>(&domain);
  return range != nullptr && range->freeze ? frozen_share : 0.0;
}

// Nothing is left of a layer that is cut into these two.
bool IsCutUp(const Space& space, const std::string& layer) {
  int parts = 0;
  for (const ModuleBinding& binding : space.modules()) {
    if (binding.module == layer + ".attention") ++parts;
    if (binding.module == layer + ".ffn") ++parts;
  }
  return parts == 2;
}

// The bindings of each leading module.
std::vector<std::vector<ModuleBinding>> Leading(const Space& space,
                                                int layers) {
  std::vector<std::vector<ModuleBinding>> leading(
      static_cast<std::size_t>(layers) + 1);
  for (const ModuleBinding& binding : space.modules()) {
    const int layer = LayerOf(binding.module);
    if (layer < 0 && binding.module != "embeddings") continue;
    if (layer >= 0 && binding.module.find('.') == binding.module.rfind('.') &&
        IsCutUp(space, binding.module)) {
      continue;
    }
    const std::size_t place =
        layer < 0 ? 0 : static_cast<std::size_t>(layer) + 1;
    leading[place].push_back(binding);
  }
  return leading;
}

}  // namespace

int FrozenPrefixOf(const Space& space, const Point& point) {
  int depth = 0;
  for (std::size_t m = 0; m < space.modules().size(); ++m) {
    const std::string& module = space.modules()[m].module;
    const int layer = LayerOf(module);
    if (space.IsFrozen(m, point)) {
      if (layer >= 0) depth = layer + 1;
      continue;
    }
    if (layer < 0) return module == "embeddings" ? -1 : depth;
    return layer;
  }
  return depth;
}

std::vector<double> FrozenPrefixChances(const Space& space, int layers,
                                        double frozen_share) {
  const auto leading = Leading(space, layers);
  std::vector<double> chances(leading.size() + 1);
  std::vector<double> depths = {0.0};  // freezes nothing by itself
  if (space.prefix_depth().has_value()) {
    const auto depth = static_cast<std::size_t>(*space.prefix_depth());
    depths = ListValues(space.parameters()[depth].domain);
  }
  const double each = 1.0 / static_cast<double>(depths.size());
  for (const double depth : depths) {
    double chance = each;   // that all so far are frozen
    std::set<int> decided;  // a tie's parameter decides once
    for (std::size_t i = 0; i < leading.size(); ++i) {
      const double before = chance;
      for (const ModuleBinding& binding : leading[i]) {
        if (binding.frozen_above_depth.has_value() &&
            depth > *binding.frozen_above_depth) {
          continue;
        }
        if (!binding.parameter.has_value()) {
          if (binding.fixed_rate != 0.0 || binding.decay_steps.has_value()) {
            chance = 0.0;
          }
        } else if (decided.insert(*binding.parameter).second) {
          const auto index = static_cast<std::size_t>(*binding.parameter);
          chance *=
              ChanceOfFrozen(space.parameters()[index].domain, frozen_share);
        }
      }
      chances[i] += before - chance;
    }
    chances.back() += chance;
  }
  return chances;
}

namespace {

constexpr std::int64_t kLeastToTell = 24;
constexpr std::int64_t kForParameter = 7;

}  // namespace

std::int64_t TrialsToTell(std::int64_t parameters) {
  return parameters == 0 ? 0
                         : std::max(kForParameter * parameters, kLeastToTell);
}

std::int64_t TrialsToTell(const Space& space) {
  constexpr std::int64_t kForDepth = 3;  // each
  std::int64_t trials = 0;
  if (space.prefix_depth().has_value()) {
    const auto depth = static_cast<std::size_t>(*space.prefix_depth());
    trials += kForDepth * static_cast<std::int64_t>(
                              CountValues(space.parameters()[depth].domain));
  }
  std::set<int> counted;
  for (const ModuleBinding& binding : space.modules()) {
    if (!binding.parameter.has_value()) continue;
    const auto index = static_cast<std::size_t>(*binding.parameter);
    const bool can_freeze =
        ChanceOfFrozen(space.parameters()[index].domain, 0.5) > 0.0;
    if (!can_freeze || !counted.insert(*binding.parameter).second) continue;
    trials += kForParameter;
  }
  return trials == 0 ? 0 : std::max(trials, kLeastToTell);
}

}  // namespace frostline
