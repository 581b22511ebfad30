// SPDX-License-Identifier: Apache-2.0
//
// File: cells.h
//
// Parameters cut into cells, as level effects and as a surrogate see them.
#ifndef FROSTLINE_IMPORTANCE_CELLS_H_
#define FROSTLINE_IMPORTANCE_CELLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "importance/measure/dataset.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::importance {

// Functions over cells are orthonormal under shares of the space and orthogonal
// to the constant, so effects of different terms are orthogonal, and the ANOVA
// decomposition is read off.

// Longer lists put neighbours together or, without an order, the choices tried
// least.
inline constexpr std::size_t kMaxEffectCells = 24;

// The number of stretches into which the range of a continuous axis is cut.
inline constexpr std::size_t kEffectStretches = 12;

// A parameter in the cells of level effects, with functions over them.
struct EffectAxis {
  std::vector<double> masses;
  std::vector<std::uint16_t> cell_of_row;  // by trial
  std::size_t functions = 0;               // 0: it cannot vary
  // Cells x functions. Each function is multiplied by the root of its prior
  // variance, and these variances add up to 1.
  std::vector<double> basis;
  std::vector<double> prior;  // by function
  // Where levels follow each other, the functions have these weights if
  // neighbours are alike and the first level is free, 1 on average.
  std::vector<double> graded;
  std::vector<double> kernel;  // basis times its transpose
  bool is_ordered = true;
  std::size_t first_ordered = 0;  // from here on cells rise

  std::size_t cells() const { return masses.size(); }
};

EffectAxis MakeEffectAxis(const MeasuredAxis& axis,
                          const std::vector<double>& codes);

// Fills in all but the cells, from the masses (cells.cc); neighbouring
// stretches are mostly alike if `smooth`.
void MakeEffectBasis(EffectAxis& axis, bool smooth);

// A value of an axis: absent, frozen, a level, a choice, a small integer, or
// the middle of a stretch of a range. Several may share an effect cell.

struct AxisValue {
  double value = 0.0;  // as in a Point
  std::size_t cell = 0;
  std::int64_t trials = 0;  // at it, or in its stretch
};

struct CutAxis {
  EffectAxis effect;
  std::vector<AxisValue> values;  // at least one; absent, if any, first
  std::vector<std::size_t> value_of_row;
};

CutAxis CutIntoValues(const Domain& domain, const MeasuredAxis& axis,
                      const std::vector<double>& codes);

// Level effects' cells become a surrogate's axis:
//
//   levels 0, 1e-5, 1e-4     frozen, then places 0 and 1
//   a range                  its stretches, six steps long in all
//   a choice, absent         alike to nothing else

surrogate::Axis MakeSurrogateAxis(const Domain& domain, const EffectAxis& axis);

// Adds each row's cell, too. REQUIRES: rows.cells has all rows.
void AddSurrogateAxis(const Domain& domain, const EffectAxis& axis,
                      surrogate::Rows& rows);

// Above kMaxSurrogateAxes parameters, those are left out of which a one-way
// analysis of variance sees least.

inline constexpr std::size_t kMaxSurrogateAxes = 48;

struct ParameterValues {
  std::vector<AxisValue> values;  // absent first
  std::vector<std::size_t> value_of_row;
};

struct StudyRows {
  surrogate::Rows rows;
  std::vector<std::size_t> parameters;  // by axis; rising
  std::vector<std::size_t> left_out;
  std::vector<ParameterValues> choices;  // by parameter, also left out

  // `choice` has for each parameter an index into its values.
  surrogate::Cells CellsOf(const std::vector<std::size_t>& choice) const;
};

// REQUIRES: there are as many values as points, at least one; points are in the
// space; `doubt` is as long, or empty.
StudyRows MakeStudyRows(const Space& space,
                        const std::vector<const Point*>& points,
                        std::vector<double> values, std::vector<double> doubt);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CELLS_H_
