// SPDX-License-Identifier: Apache-2.0
//
// File: axis_walk.h
//
// What a surrogate expects along one axis, all others held: the sums over the
// other axes are made once, so that all cells of an axis cost as much as one
// point, O(rows · axes). For searches, which ask thousands of times: the few
// likeliest sets of scales stand for all of them.
#ifndef FROSTLINE_SURROGATE_AXIS_WALK_H_
#define FROSTLINE_SURROGATE_AXIS_WALK_H_

#include <cstddef>
#include <vector>

#include "surrogate/point_kernel.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

class AxisWalk {
 public:
  // Of the `draws` likeliest sets of scales. Keeps nothing of the surrogate.
  AxisWalk(const Surrogate& surrogate, std::size_t draws);

  // Means at `cells` with each cell of `axis` in turn.
  std::vector<double> Along(std::size_t axis, const Cells& cells) const;
  double At(const Cells& cells) const;

 private:
  struct Draw {
    double base = 0.0;  // what does not depend on the point
    PointKernel kernel;
    std::vector<double> weights;  // by row, times the draw's own
  };

  std::vector<Cells> rows_;
  std::vector<Draw> draws_;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_AXIS_WALK_H_
