// SPDX-License-Identifier: Apache-2.0
#include "sampler/gp/axis_table.h"

#include <cmath>

namespace frostline {
namespace {

// Unordered choices are as far from each other as half the line.
constexpr double kBetweenChoices = kAxisLength / 2.0;

double DistanceOf(const LevelAxis& axis, std::size_t a, std::size_t b) {
  if (a == b) return 0.0;
  if (!axis.ordered) return kBetweenChoices;
  return std::abs(axis.places[a] - axis.places[b]);
}

}  // namespace

AxisTable MakeAxisTable(const LevelAxis& axis, double length,
                        double frozen_tie) {
  AxisTable table;
  table.cells = static_cast<std::size_t>(axis.cells());
  for (std::size_t a = 0; a < table.cells; ++a) {
    for (std::size_t b = 0; b < table.cells; ++b) {
      const bool across = axis.has_kind && axis.ordered && a != b &&
                          (a + 1 == table.cells || b + 1 == table.cells);
      const double tie = across ? frozen_tie : 1.0;
      const double u = std::sqrt(5.0) * DistanceOf(axis, a, b) / length;
      const double decay = tie * std::exp(-u);
      const double base = decay * (1.0 + u + u * u / 3.0);
      table.base.push_back(base);
      table.by_length.push_back(decay * u * u * (1.0 + u) / 3.0);
      table.by_frozen_tie.push_back(across ? base * (1.0 - frozen_tie) : 0.0);
    }
  }
  return table;
}

}  // namespace frostline
