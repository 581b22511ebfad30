// SPDX-License-Identifier: Apache-2.0
//
// File: questions.h
//
// Questions to a surrogate: how points vary together, what the means along one
// axis are, and where one more run would tell most.
#ifndef FROSTLINE_SURROGATE_QUESTIONS_H_
#define FROSTLINE_SURROGATE_QUESTIONS_H_

#include <cstddef>
#include <vector>

#include "surrogate/rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// Returns covariances of the values at points, points x points, in squares of
// their unit: the mean over the `draws` likeliest sets of scales.
std::vector<double> CovarianceAt(const Surrogate& surrogate,
                                 const std::vector<Cells>& points,
                                 std::size_t draws);

// The means along one axis, for searches. Sums over the other axes are made
// once, so all cells of an axis cost as much as one point, O(rows · axes).
class AxisWalk {
 public:
  // Keeps only the `draws` likeliest sets of scales of the surrogate.
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

// Returns by how much one more run would reduce the variance of all main
// effects (Cohn, Ghahramani and Jordan, 1996), each weighed by the shares of
// its cells. Unknown interactions hide main effects, so runs that tell them
// apart win.
//
// Scales are the usual ones, without values. Costs O(taken · (taken + cells) ·
// (taken + candidates)).
//
// The unit is the variance of the values. REQUIRES: there is a taken row; there
// are at most kMaxCells cells.
std::vector<double> Telling(const std::vector<Axis>& axes,
                            const std::vector<Cells>& taken,
                            const std::vector<Cells>& candidates);

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_QUESTIONS_H_
