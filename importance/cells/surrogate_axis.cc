// SPDX-License-Identifier: Apache-2.0
#include "importance/cells/surrogate_axis.h"

#include <algorithm>
#include <variant>

namespace frostline::importance {
namespace {

// Longer lists of values, and ranges, are so many steps long.
constexpr double kMostSteps = 6.0;

bool HasFrozenCell(const Domain& domain) {
  if (const auto* const levels = std::get_if<Levels>(&domain)) {
    return levels->rates.front() == 0.0;
  }
  const auto* const rate = std::get_if<LogUniform>(&domain);
  return rate != nullptr && rate->freeze;
}

}  // namespace

surrogate::Axis MakeSurrogateAxis(const Domain& domain,
                                  const EffectAxis& axis) {
  surrogate::Axis made;
  made.masses = axis.masses;
  made.kinds.assign(axis.cells(), surrogate::CellKind::kAlone);
  made.places.assign(axis.cells(), 0.0);
  if (!axis.is_ordered) return made;
  std::size_t first = axis.first_ordered;
  if (HasFrozenCell(domain) && first < axis.cells()) {
    made.kinds[first++] = surrogate::CellKind::kFrozen;
  }
  const double ordered = static_cast<double>(axis.cells() - first);
  const bool counted = std::holds_alternative<Levels>(domain);
  const double step =
      counted ? 1.0 : std::min(1.0, kMostSteps / std::max(ordered - 1.0, 1.0));
  for (std::size_t cell = first; cell < axis.cells(); ++cell) {
    made.kinds[cell] = surrogate::CellKind::kOrdered;
    made.places[cell] = step * static_cast<double>(cell - first);
  }
  return made;
}

void AddSurrogateAxis(const Domain& domain, const EffectAxis& axis,
                      surrogate::Rows& rows) {
  rows.axes.push_back(MakeSurrogateAxis(domain, axis));
  for (std::size_t row = 0; row < rows.cells.size(); ++row) {
    rows.cells[row].push_back(static_cast<std::uint8_t>(axis.cell_of_row[row]));
  }
}

}  // namespace frostline::importance
