// SPDX-License-Identifier: Apache-2.0
#include "sampler/split/pareto_volume.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sampler/split/pareto_stair.h"

namespace frostline::sampler {
namespace {

constexpr double kInfiniteVolume = std::numeric_limits<double>::infinity();

double Area(const LossVectors& points, const std::vector<double>& reference) {
  ParetoStair stair(reference);
  for (const auto& point : points) stair.Add(point[0], point[1]);
  return stair.area();
}

// Slices along the last objective, whose bottoms only grow. REQUIRES: points by
// rising last objective.
double VolumeOfSlices(const LossVectors& points,
                      const std::vector<double>& reference) {
  ParetoStair stair(reference);
  double volume = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    stair.Add(points[i][0], points[i][1]);
    const double next = i + 1 < points.size()
                            ? std::min(points[i + 1][2], reference[2])
                            : reference[2];
    volume += stair.area() * std::max(0.0, next - points[i][2]);
  }
  return volume;
}

bool IsCovered(const std::vector<double>& point, const LossVectors& front) {
  return std::any_of(front.begin(), front.end(), [&](const auto& other) {
    return std::equal(other.begin(), other.end(), point.begin(),
                      [](double a, double b) { return a <= b; });
  });
}

double FiniteVolume(LossVectors points, const std::vector<double>& reference);

// Everyone in `before` is at least as good in the last objective, so moved into
// the box of `point` they differ in the others alone.
double AddedByLast(std::vector<double> point, const LossVectors& before,
                   std::vector<double> reference) {
  const double depth = std::max(0.0, reference.back() - point.back());
  point.pop_back();
  reference.pop_back();
  LossVectors moved;
  for (const std::vector<double>& other : before) {
    moved.push_back(point);
    for (std::size_t m = 0; m < point.size(); ++m) {
      moved.back()[m] = std::max(point[m], other[m]);
    }
  }
  return depth * (BoxVolume(point, reference) -
                  FiniteVolume(std::move(moved), reference));
}

double FiniteVolume(LossVectors points, const std::vector<double>& reference) {
  if (reference.size() == 2) return Area(points, reference);
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(),
                                        b.rend());
  });
  if (reference.size() == 3) return VolumeOfSlices(points, reference);
  double volume = 0.0;
  LossVectors front;
  for (const std::vector<double>& point : points) {
    if (IsCovered(point, front)) continue;
    volume += AddedByLast(point, front, reference);
    front.push_back(point);
  }
  return volume;
}

}  // namespace

double BoxVolume(const std::vector<double>& point,
                 const std::vector<double>& reference) {
  double volume = 1.0;
  for (std::size_t m = 0; m < point.size(); ++m) {
    if (point[m] >= reference[m]) return 0.0;
    volume *= reference[m] - point[m];
  }
  return volume;
}

double AddedVolume(const std::vector<double>& point, LossVectors others,
                   const std::vector<double>& reference) {
  for (std::vector<double>& other : others) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      other[m] = std::max(other[m], point[m]);
    }
  }
  return BoxVolume(point, reference) -
         Hypervolume(std::move(others), reference);
}

double Hypervolume(LossVectors points, const std::vector<double>& reference) {
  const auto is_infinite = [](double value) { return std::isinf(value); };
  if (std::any_of(reference.begin(), reference.end(), is_infinite)) {
    return kInfiniteVolume;
  }
  std::erase_if(points, [&](const std::vector<double>& point) {
    return BoxVolume(point, reference) == 0.0;
  });
  for (const std::vector<double>& point : points) {
    if (std::isinf(BoxVolume(point, reference))) return kInfiniteVolume;
  }
  return FiniteVolume(std::move(points), reference);
}

}  // namespace frostline::sampler
