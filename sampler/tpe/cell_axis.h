// SPDX-License-Identifier: Apache-2.0
//
// File: cell_axis.h
//
// A cell is a level, a choice or one of few numbers, or one of kBins of equal
// width on a continuous range. Frozen is the first cell. Each cell has a share
// of the prior (equal; frozen among rates has `frozen_share`) and a place on
// the line, as a share of the box.
#ifndef FROSTLINE_SAMPLER_TPE_CELL_AXIS_H_
#define FROSTLINE_SAMPLER_TPE_CELL_AXIS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/numeric_range.h"
#include "study/space.h"

namespace frostline::sampler {

using Cell = std::uint16_t;
inline constexpr Cell kNoCell = 0xffff;  // the parameter is absent

class CellAxis {
 public:
  static constexpr std::size_t kBins = 128;

  // Levels that are not `ordinal` are choices without an order.
  CellAxis(const Domain& domain, bool ordinal, double frozen_share);

  std::size_t cells() const { return prior_.size(); }
  // Says whether a cell is one value; else it is a bin of them.
  bool exact() const { return exact_; }
  bool ordered() const { return ordered_; }
  // Says whether cell 0 is frozen, a kind of its own.
  bool frozen() const { return frozen_; }
  double prior(std::size_t cell) const { return prior_[cell]; }
  double place(std::size_t cell) const { return place_[cell]; }
  // Returns the gap between neighbours; bins have a seventh of the box.
  double step() const { return step_; }

  // Axes of one shape have the same kernels.
  bool SameShape(const CellAxis& other) const;

  // REQUIRES: `value` is of the domain.
  Cell CellOf(double value) const;
  // Returns the only value of the cell, or one anywhere within the bin.
  double ValueIn(Cell cell, Rng& rng) const;

 private:
  double ShareOfBox(double value) const;

  std::optional<NumericRange> range_;
  std::vector<double> values_;  // where cells are exact
  std::vector<double> prior_;
  std::vector<double> place_;
  double step_ = 1.0;
  bool exact_ = true;
  bool ordered_ = true;
  bool frozen_ = false;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_CELL_AXIS_H_
