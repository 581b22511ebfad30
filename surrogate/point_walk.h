// SPDX-License-Identifier: Apache-2.0
//
// File: point_walk.h
#ifndef FROSTLINE_SURROGATE_POINT_WALK_H_
#define FROSTLINE_SURROGATE_POINT_WALK_H_

#include <cstddef>
#include <span>
#include <vector>

#include "surrogate/growing_surrogate.h"
#include "surrogate/point_kernel.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// Looking along an axis costs n² / 2 for all its cells: with P_i what the axis
// multiplies, k_i(cell) = k_i + P_i (K[cell][c_i] - K[now][c_i]), so W k(cell)
// is W k and a mixture of one vector for each cell among the rows.
//
// Keeps a reference to the surrogate, which must not change.
class PointWalk {
 public:
  // Without variance, which is 0 then, walking costs n.
  PointWalk(const GrowingSurrogate& surrogate, bool with_variance);

  // Puts axes that `at` lacks at cell 0.
  void Place(const Cells& at);
  Belief Here() const;
  std::vector<Belief> Look(std::size_t axis, std::span<const int> cells);
  // Goes to a cell of the axis last looked along.
  void Step(int cell);

 private:
  void FindSlopes(std::size_t axis);
  void GroupRows();
  double PriorWith(int cell) const;

  const GrowingSurrogate& surrogate_;
  bool with_variance_;
  Cells at_;
  PointSums sums_;
  std::vector<double> whitened_;  // W k
  double mean_ = 0.0;
  std::size_t axis_ = 0;        // last looked along; the rest is of it
  std::vector<double> slopes_;  // P_i
  std::vector<double> mean_groups_;
  std::vector<double> groups_;  // [row of W][cell]
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_POINT_WALK_H_
