// SPDX-License-Identifier: Apache-2.0
//
// File: rows.h
//
// Trials as cells, the similarity of two cells of a parameter, the usual
// variances, and the kernel as plain numbers.
#ifndef FROSTLINE_SURROGATE_ROWS_H_
#define FROSTLINE_SURROGATE_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace frostline::surrogate {

// A parameter has cells (a level, a choice, a stretch of a range, frozen,
// absent), each with a share of the space. The similarity of two cells is:
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

// Returns K of all pairs of cells. It is all 0 if one cell has all of the
// space.
CellTable KernelOf(const Axis& axis, double length, double gap);

// The usual variances for values of mean 0 and variance 1, as importance takes
// them. A search, whose trials are few and near the best, may take others.
struct Usual {
  double noise = 0.25;
  double length = 3.0;            // steps between levels
  double length_deviation = 0.8;  // of its logarithm
  double main = 0.4;              // all main effects together
  double main_deviation = 2.0;    // of the logarithm of each
  double joint = 1.0;             // all pairs have half of its square
};

using Cells = std::vector<std::uint8_t>;  // one cell of each axis

struct Rows {
  std::vector<Axis> axes;
  std::vector<Cells> cells;    // by row
  std::vector<double> values;  // by row; any unit
  // Further variance of values that were not seen, in squares of the unit.
  // Empty means none.
  std::vector<double> doubt;

  std::size_t size() const { return values.size(); }
};

// Returns the doubt about a trial that could not be trained. REQUIRES: there is
// a value.
double DoubtOfHopeless(const std::vector<double>& values);

// Adds trials that could not be trained, with the highest value. REQUIRES:
// there is a row.
void AddHopeless(const std::vector<Cells>& cells, Rows& rows);

struct PointKernel {
  struct PairTerm {  // what a pair's own factor adds
    std::size_t first = 0;
    std::size_t second = 0;
    double more = 0.0;
    bool operator==(const PairTerm& other) const = default;
  };

  double noise = 0.0;
  double constant = 0.0;     // how far the mean is known
  double triples = 0.0;      // factor of e3
  std::vector<double> main;  // variances, by axis
  std::vector<double> joint;
  std::vector<PairTerm> pairs;
  std::vector<std::size_t> cells;  // how many
  std::vector<CellTable> tables;

  std::size_t axes() const { return cells.size(); }
  // Returns K between the cell of the point and each cell.
  const double* Row(std::size_t axis, const Cells& at) const {
    return tables[axis].data() + at[axis] * cells[axis];
  }
  bool operator==(const PointKernel& other) const = default;
};

struct RowColumns {
  std::vector<std::vector<std::uint8_t>> cells;  // [axis][row]
  std::vector<double> doubt;  // variance beside the common noise

  std::size_t size() const { return doubt.size(); }
  Cells At(std::size_t row) const;
  void Append(const Cells& at, double with_doubt);
  bool operator==(const RowColumns& other) const = default;
};

// Returns a variance that includes the mean, not the noise.
double VarianceAt(const PointKernel& kernel, const Cells& at);

// The covariances with the first `count` rows, and two sums of them
// (scales.h).
struct PointSums {
  PointSums() = default;
  PointSums(const PointKernel& kernel, const RowColumns& rows, const Cells& at,
            std::size_t count);

  std::vector<double> covariance;
  std::vector<double> e1;
  std::vector<double> e2;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_ROWS_H_
