// SPDX-License-Identifier: Apache-2.0
//
// File: cell_axis.h
//
// One parameter as a row of cells, so that every kind of domain is one kind to
// the density: a level, a choice or one of few numbers is a cell; a continuous
// range is cut into kBins of equal width on the line of NumericRange. Frozen is
// a cell of its own and the first one.
//
// Each cell has a share of the prior (equal; frozen among rates has
// `frozen_share`) and a place on the line, as a share of the box.
#ifndef FROSTLINE_SAMPLER_TPE_CELL_AXIS_H_
#define FROSTLINE_SAMPLER_TPE_CELL_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/numeric_range.h"
#include "study/domain.h"

namespace frostline::sampler {

using Cell = std::uint16_t;
inline constexpr Cell kNoCell = 0xffff;  // the parameter is absent

class CellAxis {
 public:
  static constexpr std::size_t kBins = 128;

  // With `ordinal` false, levels are choices without an order.
  CellAxis(const Domain& domain, bool ordinal, double frozen_share);

  std::size_t cells() const { return prior_.size(); }
  // Whether a cell is one value; else it is a bin of them.
  bool exact() const { return exact_; }
  bool ordered() const { return ordered_; }
  // Whether cell 0 is frozen, a kind of its own among ordered ones.
  bool frozen() const { return frozen_; }
  double prior(std::size_t cell) const { return prior_[cell]; }
  double place(std::size_t cell) const { return place_[cell]; }
  // How far apart neighbours are; in bins of a rate, a seventh of the box.
  double step() const { return step_; }

  // Axes of one shape have the same kernels.
  bool SameShape(const CellAxis& other) const;

  // REQUIRES: `value` is of the domain.
  Cell CellOf(double value) const;
  // A value of the cell: the only one, or one anywhere within the bin.
  double ValueIn(Cell cell, Rng& rng) const;

 private:
  double ShareOfBox(double value) const;

  std::optional<NumericRange> range_;
  std::vector<double> values_;  // of the cells, where they are exact
  std::vector<double> prior_;
  std::vector<double> place_;
  double step_ = 1.0;
  bool exact_ = true;
  bool ordered_ = true;
  bool frozen_ = false;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_CELL_AXIS_H_
