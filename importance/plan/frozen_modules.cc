// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/frozen_modules.h"

#include <variant>

namespace frostline::importance {

bool IsModuleFrozen(const Space& space, std::size_t module,
                    const Point& point) {
  const ModuleBinding& binding = space.modules()[module];
  if (space.prefix_depth().has_value() &&
      binding.frozen_above_depth.has_value() &&
      point[static_cast<std::size_t>(*space.prefix_depth())] >
          *binding.frozen_above_depth) {
    return true;
  }
  if (!binding.parameter.has_value()) return binding.fixed_rate == 0.0;
  const auto own = static_cast<std::size_t>(*binding.parameter);
  if (IsAbsent(point[own])) return true;
  const auto* const levels =
      std::get_if<Levels>(&space.parameters()[own].domain);
  return levels != nullptr
             ? levels->rates[static_cast<std::size_t>(point[own])] == 0.0
             : point[own] == 0.0;
}

}  // namespace frostline::importance
