// SPDX-License-Identifier: Apache-2.0
//
// File: questions.h
//
// Sums over the other axes are made once, so all cells of an axis cost as much
// as one point, O(rows · axes): for searches.
#ifndef FROSTLINE_SURROGATE_QUESTIONS_H_
#define FROSTLINE_SURROGATE_QUESTIONS_H_

#include <cstddef>
#include <vector>

#include "surrogate/point_kernel.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

class AxisWalk {
 public:
  // Keeps nothing of the surrogate but its `draws` likeliest sets of scales.
  AxisWalk(const Surrogate& surrogate, std::size_t draws);

  // Returns the mean at each cell of `axis`, the others as in `cells`.
  std::vector<double> Along(std::size_t axis, const Cells& cells) const;
  double At(const Cells& cells) const;

 private:
  struct Draw {
    double base = 0.0;  // whatever the point
    PointKernel kernel;
    std::vector<double> weights;  // by row
  };

  std::vector<Cells> rows_;
  std::vector<Draw> draws_;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_QUESTIONS_H_
