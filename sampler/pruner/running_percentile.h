// SPDX-License-Identifier: Apache-2.0
//
// File: running_percentile.h
//
// One percentile of numbers as they come. Two heaps meet at its place: the low
// one has every number up to there, so both neighbours are on top.
//
//   25 % of .2 .4 .6 .8 is at place .75, between .2 and .4: .35
#ifndef FROSTLINE_SAMPLER_PRUNER_RUNNING_PERCENTILE_H_
#define FROSTLINE_SAMPLER_PRUNER_RUNNING_PERCENTILE_H_

#include <cstddef>
#include <vector>

namespace frostline::sampler {

class RunningPercentile {
 public:
  // REQUIRES: 0 <= percentile <= 100.
  explicit RunningPercentile(double percentile) : percentile_(percentile) {}

  // Takes O(log n). REQUIRES: it is not NaN.
  void Add(double value);
  std::size_t count() const { return low_.size() + high_.size(); }
  // It is interpolated in a straight line, in O(1). REQUIRES: there are values.
  double Value() const;

 private:
  double Place() const {
    return static_cast<double>(count() - 1) * (percentile_ / 100.0);
  }

  double percentile_;
  std::vector<double> low_;   // a heap, the largest on top
  std::vector<double> high_;  // a heap, the smallest on top
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_RUNNING_PERCENTILE_H_
