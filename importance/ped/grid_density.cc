// SPDX-License-Identifier: Apache-2.0
#include "importance/ped/grid_density.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace frostline::importance {
namespace {

// How much the kernel for the unseen weighs beside one trial.
constexpr double kPriorWeight = 1.0;

double DensitySumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The place at which the running sum of counts reaches `sum`, or passes it.
double PlaceAt(const std::vector<double>& counts, double sum, bool passes) {
  double seen = 0.0, place = 0.0;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    if (counts[g] == 0.0) continue;
    seen += counts[g];
    place = static_cast<double>(g);
    if (passes ? seen > sum : seen >= sum) break;
  }
  return place;
}

// What lies further than `distance` to one side of a normal's center.
double TailOf(double distance, double width) {
  return 0.5 * std::erfc(distance / (width * std::numbers::sqrt2));
}

// The prior's kernel: around the middle, as wide as the grid, and cut to it.
void AddPrior(double weight, std::vector<double>& density) {
  const auto size = static_cast<double>(density.size());
  const double whole = 1.0 - 2.0 * TailOf(size / 2.0, size);
  double before = TailOf(size / 2.0, size);
  // The two halves mirror each other.
  for (std::size_t g = 0; g < (density.size() + 1) / 2; ++g) {
    const double at = static_cast<double>(g) + 1.0 - size / 2.0;
    const double up_to = TailOf(-at, size);
    const double share = weight * (up_to - before) / whole;
    density[g] += share;
    const std::size_t mirror = density.size() - 1 - g;
    if (mirror != g) density[mirror] += share;
    before = up_to;
  }
}

}  // namespace

double ScottWidth(const std::vector<double>& counts) {
  const double n = DensitySumOf(counts);
  double mean = 0.0, squares = 0.0;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    mean += counts[g] * static_cast<double>(g) / n;
  }
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const double away = static_cast<double>(g) - mean;
    squares += counts[g] * away * away;
  }
  const double deviation = std::sqrt(squares / std::max(1.0, n - 1.0));
  const double quartiles = PlaceAt(counts, std::floor(n * 3.0 / 4.0), true) -
                           PlaceAt(counts, std::floor(n / 4.0), false);
  const double width =
      1.059 * std::min(quartiles / 1.34, deviation) * std::pow(n, -0.2);
  // Half a step lies within 1.64 deviations: 90 % of the kernel.
  return std::max(width, 0.5 / 1.64);
}

std::vector<double> DensityOnGrid(const std::vector<double>& counts) {
  const double width = ScottWidth(counts);
  const double n = DensitySumOf(counts) + kPriorWeight;
  std::vector<double> density(counts.size(), 0.0);
  AddPrior(kPriorWeight / n, density);
  // All kernels are one, moved: what it has beyond each distance, and between
  // two of them, is found once.
  std::vector<double> tail, mass;
  tail.reserve(density.size() + 1);
  mass.reserve(density.size());
  for (std::size_t away = 0; away <= density.size(); ++away) {
    tail.push_back(TailOf(static_cast<double>(away) - 0.5, width));
    if (away > 0) mass.push_back(tail[away - 1] - tail[away]);
  }
  for (std::size_t center = 0; center < counts.size(); ++center) {
    if (counts[center] == 0.0) continue;
    const double weight =
        counts[center] / n /
        (1.0 - tail[center + 1] - tail[counts.size() - center]);
    for (std::size_t g = 0; g < center; ++g) {
      density[g] += weight * mass[center - g];
    }
    for (std::size_t g = center; g < counts.size(); ++g) {
      density[g] += weight * mass[g - center];
    }
  }
  return density;
}

std::vector<double> DensityOfChoices(const std::vector<double>& counts) {
  const double n = DensitySumOf(counts);
  const auto choices = static_cast<double>(counts.size());
  const double kernels = 1.0 + static_cast<double>(std::count_if(
                                   counts.begin(), counts.end(),
                                   [](double count) { return count > 0.0; }));
  // A seen choice's kernel has one for itself and for each choice a share of
  // the prior's weight.
  const double share = kPriorWeight / kernels;
  const double row = 1.0 + share * choices;
  std::vector<double> density;
  density.reserve(counts.size());
  for (const double count : counts) {
    density.push_back(((count + n * share) / row + kPriorWeight / choices) /
                      (n + kPriorWeight));
  }
  return density;
}

double PearsonDivergence(const std::vector<double>& part,
                         const std::vector<double>& whole) {
  double sum = 0.0;
  for (std::size_t g = 0; g < whole.size(); ++g) {
    const double ratio = part[g] / whole[g] - 1.0;
    sum += whole[g] * ratio * ratio;
  }
  return sum;
}

}  // namespace frostline::importance
