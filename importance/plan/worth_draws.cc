// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/worth_draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/plain/statistics.h"

namespace frostline::importance {
namespace {

// Of a worth: equal points are equally good, whatever rounding did.
constexpr double kWorthRounding = 1e-6;

bool IsSame(double a, double b) {
  return std::abs(a - b) <= kWorthRounding * (std::abs(a) + std::abs(b));
}

}  // namespace

double MeanOf(const WorthDraws& draws, std::size_t point) {
  double sum = 0.0;
  for (const std::vector<double>& draw : draws) sum += draw[point];
  return sum / static_cast<double>(draws.size());
}

double DeviationOf(const WorthDraws& draws, std::size_t point) {
  const double mean = MeanOf(draws, point);
  double sum = 0.0;
  for (const std::vector<double>& draw : draws) {
    sum += (draw[point] - mean) * (draw[point] - mean);
  }
  return std::sqrt(sum / static_cast<double>(draws.size()));
}

double ChanceOf(const WorthDraws& draws, std::size_t point, std::size_t other) {
  std::size_t count = 0;
  for (const std::vector<double>& draw : draws) {
    const bool is_as_good =
        draw[point] >= draw[other] || IsSame(draw[point], draw[other]);
    count += is_as_good ? 1 : 0;
  }
  return static_cast<double>(count) / static_cast<double>(draws.size());
}

std::vector<double> LossesOf(const StudyBelief& belief, const WorthDraws& draws,
                             std::size_t from, std::size_t to) {
  std::vector<double> losses;
  losses.reserve(draws.size());
  for (const std::vector<double>& draw : draws) {
    if (IsSame(draw[from], draw[to])) {
      losses.push_back(0.0);
      continue;
    }
    losses.push_back(AsLoss(belief.objective(), belief.ScoreOf(draw[to])) -
                     AsLoss(belief.objective(), belief.ScoreOf(draw[from])));
  }
  return losses;
}

double ShareWithin(const std::vector<double>& losses, double tolerance) {
  const auto count =
      std::count_if(losses.begin(), losses.end(),
                    [tolerance](double loss) { return loss <= tolerance; });
  return static_cast<double>(count) / static_cast<double>(losses.size());
}

double ChanceOfLoss(const StudyBelief& belief, const WorthDraws& draws,
                    std::size_t from, std::size_t to, double tolerance) {
  return ShareWithin(LossesOf(belief, draws, from, to), tolerance);
}

Interval QuantilesOf(std::vector<double> draws) {
  std::sort(draws.begin(), draws.end());
  const auto at = [&draws](double q) { return QuantileOfSorted(draws, q); };
  return {at(0.5), at(0.1), at(0.9), at(0.025), at(0.975)};
}

}  // namespace frostline::importance
