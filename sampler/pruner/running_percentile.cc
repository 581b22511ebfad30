// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/running_percentile.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace frostline::sampler {
namespace {

template <typename Order>
void Push(std::vector<double>& heap, double value, Order order) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end(), order);
}

template <typename Order>
double Pop(std::vector<double>& heap, Order order) {
  std::pop_heap(heap.begin(), heap.end(), order);
  const double top = heap.back();
  heap.pop_back();
  return top;
}

constexpr std::less<> kLargestOnTop;
constexpr std::greater<> kSmallestOnTop;

}  // namespace

void RunningPercentile::Add(double value) {
  if (!low_.empty() && value < low_.front()) {
    Push(low_, value, kLargestOnTop);
  } else {
    Push(high_, value, kSmallestOnTop);
  }
  const std::size_t wanted = static_cast<std::size_t>(Place()) + 1;
  while (low_.size() > wanted) {
    Push(high_, Pop(low_, kLargestOnTop), kSmallestOnTop);
  }
  while (low_.size() < wanted) {
    Push(low_, Pop(high_, kSmallestOnTop), kLargestOnTop);
  }
}

double RunningPercentile::Value() const {
  const double place = Place();
  const double share = place - std::floor(place);
  const double a = low_.front();
  const double b = high_.empty() ? a : high_.front();
  if (share == 0.0 || a == b) return a;
  // Where the distance is too large for a number, each end has its own part.
  if (!std::isfinite(b - a)) return a * (1.0 - share) + b * share;
  // From the nearer end, as it was recorded: rounding can decide.
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1.0 - share);
}

}  // namespace frostline::sampler
