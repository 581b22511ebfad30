// SPDX-License-Identifier: Apache-2.0
//
// File: axis.h
//
// A parameter has cells (a level, a choice, a stretch of a range, frozen,
// absent) with shares of the space; so alike are two of them:
//
//   T(c, c') = M(|place_c - place_c'| / length)   along an order
//   K = H T Hᵀ / trace,  H = I - 1 pᵀ                p: shares of the space
//
// M(u) is exp(-u), which allows cliffs, or on a smooth axis the Matérn kernel
// of 5/2 (Rasmussen and Williams, 2006, eq. 4.17). Frozen stands a learnt gap
// before the first rate; a choice, or absent, is alike to nothing else. K
// averages to 0, so effects of different sets are orthogonal (Durrande,
// Ginsbourger, Roustant and Carraro, 2013, §3); its mean diagonal is 1, so a
// scale before it is a variance.
//
//   levels 0, 1e-5, 1e-4: cells 0 (frozen), 1, 2 at places 0, 0, 1
//   three choices: cells 0, 1, 2 without places
#ifndef FROSTLINE_SURROGATE_AXIS_H_
#define FROSTLINE_SURROGATE_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frostline::surrogate {

inline constexpr std::size_t kMaxCells = 64;

enum class CellKind : std::uint8_t {
  kAlone,   // a choice, or absent
  kFrozen,  // a gap before the first place
  kOrdered,
};

struct Axis {
  std::vector<double> masses;  // shares of the space
  std::vector<CellKind> kinds;
  std::vector<double> places;  // of ordered cells, in steps between levels
  bool smooth = false;

  std::size_t cells() const { return masses.size(); }
};

using CellTable = std::vector<double>;  // cells x cells

// Is all 0 where one cell has all of the space.
CellTable KernelOf(const Axis& axis, double length, double gap);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_AXIS_H_
