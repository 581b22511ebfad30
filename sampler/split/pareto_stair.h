// SPDX-License-Identifier: Apache-2.0
//
// File: pareto_stair.h
#ifndef FROSTLINE_SAMPLER_SPLIT_PARETO_STAIR_H_
#define FROSTLINE_SAMPLER_SPLIT_PARETO_STAIR_H_

#include <map>
#include <vector>

namespace frostline::sampler {

// The stair is the edge of what is dominated, which falls as it goes right.
class ParetoStair {
 public:
  // REQUIRES: there are two coordinates at least; those beyond do not count.
  explicit ParetoStair(const std::vector<double>& reference)
      : right_(reference[0]), top_(reference[1]) {}

  double area() const { return area_; }

  // The point may be dominated already. It takes O(log n) amortised.
  void Add(double x, double y);

 private:
  double right_;
  double top_;
  double area_ = 0.0;
  std::map<double, double> steps_;  // y by x; y falls
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_PARETO_STAIR_H_
