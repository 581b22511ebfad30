// SPDX-License-Identifier: Apache-2.0
#include "study/frozen_prefix.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "study/freezing.h"

namespace frostline {
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
    leading[static_cast<std::size_t>(layer + 1)].push_back(binding);
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

}  // namespace frostline
