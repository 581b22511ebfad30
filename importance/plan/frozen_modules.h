// SPDX-License-Identifier: Apache-2.0
//
// File: frozen_modules.h
#ifndef FROSTLINE_IMPORTANCE_PLAN_FROZEN_MODULES_H_
#define FROSTLINE_IMPORTANCE_PLAN_FROZEN_MODULES_H_

#include <cstddef>

#include "study/point.h"
#include "study/space.h"

namespace frostline::importance {

// Says whether Space::Rates gives modules()[module] 0, without asking for all
// rates.
bool IsModuleFrozen(const Space& space, std::size_t module, const Point& point);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_FROZEN_MODULES_H_
