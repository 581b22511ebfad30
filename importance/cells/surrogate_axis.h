// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_axis.h
//
// Level effects' cells become a surrogate's axis:
//
//   levels 0, 1e-5, 1e-4     frozen, then places 0 and 1
//   a range                  its stretches, six steps long in all
//   a choice, absent         alike to nothing else
#ifndef FROSTLINE_IMPORTANCE_CELLS_SURROGATE_AXIS_H_
#define FROSTLINE_IMPORTANCE_CELLS_SURROGATE_AXIS_H_

#include "importance/cells.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::importance {

surrogate::Axis MakeSurrogateAxis(const Domain& domain, const EffectAxis& axis);

// Adds each row's cell, too. REQUIRES: rows.cells has all rows.
void AddSurrogateAxis(const Domain& domain, const EffectAxis& axis,
                      surrogate::Rows& rows);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_SURROGATE_AXIS_H_
