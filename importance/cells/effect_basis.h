// SPDX-License-Identifier: Apache-2.0
//
// File: effect_basis.h
//
// The functions over the cells of an axis in which its effects are written.
#ifndef FROSTLINE_IMPORTANCE_CELLS_EFFECT_BASIS_H_
#define FROSTLINE_IMPORTANCE_CELLS_EFFECT_BASIS_H_

#include <cstddef>

#include "importance/cells/level_effects_axis.h"

namespace frostline {

// The last so many cells of an axis with a continuous range are stretches of
// it.
inline constexpr std::size_t kEffectStretches = 12;

// Fills in all but the cells, from the masses. `smooth`: neighbouring stretches
// of a range are mostly alike.
void MakeEffectBasis(EffectAxis& axis, bool smooth);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_CELLS_EFFECT_BASIS_H_
