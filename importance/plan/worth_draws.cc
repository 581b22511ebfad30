// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/worth_draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/plain/statistics.h"

namespace frostline {
namespace {

// Of a worth: equal points are equally good, whatever rounding did.
constexpr double kRounding = 1e-6;

double ShareOf(std::size_t count, const WorthDraws& draws) {
  return static_cast<double>(count) / static_cast<double>(draws.size());
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
    const double slack =
        kRounding * (std::abs(draw[point]) + std::abs(draw[other]));
    count += draw[point] >= draw[other] - slack ? 1 : 0;
  }
  return ShareOf(count, draws);
}

std::vector<double> LossesOf(const StudyBelief& belief, const WorthDraws& draws,
                             std::size_t from, std::size_t to) {
  std::vector<double> losses;
  losses.reserve(draws.size());
  for (const std::vector<double>& draw : draws) {
    losses.push_back(AsLoss(belief.objective(), belief.ScoreOf(draw[to])) -
                     AsLoss(belief.objective(), belief.ScoreOf(draw[from])));
  }
  return losses;
}

double ChanceOfLoss(const StudyBelief& belief, const WorthDraws& draws,
                    std::size_t from, std::size_t to, double tolerance) {
  if (tolerance == 0.0) return ChanceOf(draws, to, from);
  const std::vector<double> losses = LossesOf(belief, draws, from, to);
  const auto count =
      std::count_if(losses.begin(), losses.end(),
                    [tolerance](double loss) { return loss <= tolerance; });
  return ShareOf(static_cast<std::size_t>(count), draws);
}

Interval QuantilesOf(std::vector<double> draws) {
  std::sort(draws.begin(), draws.end());
  const auto at = [&draws](double q) { return QuantileOfSorted(draws, q); };
  return {at(0.5), at(0.1), at(0.9), at(0.025), at(0.975)};
}

}  // namespace frostline
