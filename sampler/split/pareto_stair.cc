// SPDX-License-Identifier: Apache-2.0
#include "sampler/split/pareto_stair.h"

#include <iterator>

namespace frostline::sampler {

void ParetoStair::Add(double x, double y) {
  const auto after = steps_.upper_bound(x);
  const double ceiling =
      after == steps_.begin() ? top_ : std::prev(after)->second;
  if (x >= right_ || y >= ceiling) return;
  // Steps to the right that are higher are cut off, one after the other.
  double left = x, height = ceiling;
  auto step = steps_.lower_bound(x);
  for (; step != steps_.end() && step->second >= y; step = steps_.erase(step)) {
    area_ += (step->first - left) * (height - y);
    left = step->first;
    height = step->second;
  }
  const double end = step == steps_.end() ? right_ : step->first;
  area_ += (end - left) * (height - y);
  steps_[x] = y;
}

}  // namespace frostline::sampler
