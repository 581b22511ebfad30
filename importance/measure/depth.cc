// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/depth.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace frostline::importance {
namespace {

constexpr int kEmbeddings = -1;
constexpr int kPooler = std::numeric_limits<int>::max() - 2;
constexpr int kHead = std::numeric_limits<int>::max() - 1;
constexpr std::array kGroups = {"embeddings", "lower", "middle", "upper",
                                "head"};

// Returns 3 for "layer.3" and "layer.3.ffn"; nullopt for names of other kinds.
std::optional<int> DepthOf(std::string_view module) {
  const std::string_view first = module.substr(0, module.find('.'));
  if (first == "embeddings") return kEmbeddings;
  if (first == "pooler") return kPooler;
  if (first == "head") return kHead;
  if (first != "layer" || first.size() == module.size()) return std::nullopt;
  const std::string_view digits = module.substr(first.size() + 1);
  int number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = end == digits.data() + digits.size() || *end == '.';
  if (error != std::errc() || !whole || number < 0) return std::nullopt;
  return number;
}

// Depths of the modules that take their rate from each parameter. Where no
// module does, of the parameter's own name, as in a space of plain parameters.
std::vector<std::vector<int>> DepthsOf(const Space& space) {
  std::vector<std::vector<int>> depths(static_cast<std::size_t>(space.size()));
  for (const ModuleBinding& binding : space.modules()) {
    const std::optional<int> depth = DepthOf(binding.module);
    if (!binding.parameter.has_value() || !depth.has_value()) continue;
    depths[static_cast<std::size_t>(*binding.parameter)].push_back(*depth);
  }
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const auto depth = DepthOf(space.parameters()[i].name);
    if (depths[i].empty() && depth.has_value()) depths[i].push_back(*depth);
  }
  return depths;
}

int LayersOf(const Space& space, const std::vector<std::vector<int>>& depths) {
  int layers = 0;
  const auto see = [&layers](int depth) {
    if (depth < kPooler) layers = std::max(layers, depth + 1);
  };
  for (const std::vector<int>& own : depths) {
    for (const int depth : own) see(depth);
  }
  for (const ModuleBinding& binding : space.modules()) {
    see(DepthOf(binding.module).value_or(0));
  }
  return layers;
}

std::size_t GroupOf(int depth, int layers) {
  if (depth == kEmbeddings) return 0;
  if (depth >= kPooler) return 4;
  return 1 + static_cast<std::size_t>(std::min(3 * depth / layers, 2));
}

}  // namespace

std::vector<int> DepthOrder(const Space& space) {
  const auto depths = DepthsOf(space);
  const auto lowest = [&depths](int i) {
    const std::vector<int>& own = depths[static_cast<std::size_t>(i)];
    return own.empty() ? std::numeric_limits<int>::max()
                       : *std::min_element(own.begin(), own.end());
  };
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(space.size()));
  for (int i = 0; i < space.size(); ++i) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return lowest(a) < lowest(b); });
  return order;
}

std::vector<LayerGroup> LayerGroups(const Space& space) {
  const auto depths = DepthsOf(space);
  const int layers = LayersOf(space, depths);
  std::array<LayerGroup, kGroups.size()> groups;
  for (const int i : DepthOrder(space)) {
    const std::vector<int>& own = depths[static_cast<std::size_t>(i)];
    if (own.empty()) continue;
    const std::size_t group = GroupOf(own.front(), layers);
    const bool alone = std::all_of(own.begin(), own.end(), [&](int depth) {
      return GroupOf(depth, layers) == group;
    });
    if (alone) groups[group].parameters.push_back(i);
  }
  std::vector<LayerGroup> there;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].parameters.empty()) continue;
    groups[g].name = kGroups[g];
    there.push_back(std::move(groups[g]));
  }
  return there;
}

}  // namespace frostline::importance
