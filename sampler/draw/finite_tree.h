// SPDX-License-Identifier: Apache-2.0
//
// File: finite_tree.h
//
// A finite space is a tree that is never built, with a layer for each
// parameter, a branch for each value, a leaf for each point. A parameter hangs
// on at most one other, so leaves are counted by multiplying.
#ifndef FROSTLINE_SAMPLER_DRAW_FINITE_TREE_H_
#define FROSTLINE_SAMPLER_DRAW_FINITE_TREE_H_

#include <cstdint>
#include <vector>

#include "sampler/draw/numeric_range.h"
#include "study/space.h"

namespace frostline::sampler {

// Holds the index of each parameter's value, kNoBranch where it is inactive.
using Path = std::vector<std::int32_t>;
inline constexpr std::int32_t kNoBranch = -1;

inline constexpr double kCountlessPoints = 1e200;

// Any thread may use it.
class FiniteTree {
 public:
  // REQUIRES: every domain has at most 2^31 - 1 values.
  explicit FiniteTree(const Space& space);

  const Space& space() const { return space_; }
  double CountPoints() const {
    return CountPending(-1, Point(ranges_.size(), kAbsent));
  }
  std::int32_t CountBranches(std::size_t parameter) const {
    return branches_[parameter];
  }
  double ValueOf(std::size_t parameter, std::int32_t branch) const;

  // Counts the ways to fill what hangs on `parameter` when it takes this
  // branch.
  double CountOwn(std::size_t parameter, std::int32_t branch) const;
  // Counts so what neither hangs on `last` nor comes before it: CountOwn x
  // CountPending leaves are below a branch. REQUIRES: from `last` on, the point
  // is absent.
  double CountPending(int last, const Point& point) const;

  // The path is empty when there is no such leaf. Stepped values may carry
  // rounding.
  Path PathOf(const Point& point) const;

 private:
  double CountWays(std::size_t parameter, std::int32_t branch) const;

  Space space_;
  std::vector<NumericRange> ranges_;
  std::vector<std::int32_t> branches_;
  std::vector<std::vector<int>> children_;
  std::vector<std::vector<double>> own_;  // none where nothing hangs on it
  std::vector<double> counts_;            // leaves of each parameter by itself
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_FINITE_TREE_H_
