// SPDX-License-Identifier: Apache-2.0
#include "surrogate/saturation.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "surrogate/scales.h"

namespace frostline::surrogate {
namespace {

constexpr std::size_t kSaturationPilotRows = 60;
constexpr int kPilotSteps = 5;
// How far the end may lie below the best value, in deviations of the values. At
// the first distance the scale is as good as straight.
constexpr double kDistances[] = {10.0, 3.0, 1.0, 0.3};
// A value at its bound is so far above the end, in deviations too.
constexpr double kMargin = 0.05;

std::vector<std::size_t> AllOf(const Rows& rows) {
  return MostTelling(rows, rows.size());
}

double LogDensity(Rows rows, const Saturation& saturation, VectorXd& start,
                  const std::stop_token& stop) {
  double density = 0.0;
  for (double& value : rows.values) {
    density += saturation.LogSlope(value);
    value = saturation.Forward(value);
  }
  const Standardised pilot = Standardise(rows, AllOf(rows));
  const ScalePrior prior = UsualScales(rows.axes.size(), 0);
  const auto mode = FindMode(pilot.rows, prior, start, kPilotSteps, stop);
  start = mode->scales();
  const VectorXd off = (start - prior.mean).cwiseQuotient(prior.deviation);
  return density + mode->value() - 0.5 * off.squaredNorm() -
         static_cast<double>(rows.size()) * std::log(pilot.scale);
}

Rows PilotOf(const Rows& rows, const std::stop_token& stop) {
  Rows pilot;
  pilot.axes = rows.axes;
  const std::vector<std::size_t> telling =
      MostTelling(rows, kSaturationPilotRows, stop);
  for (const std::size_t row : FirstRising(telling, telling.size())) {
    pilot.cells.push_back(rows.cells[row]);
    pilot.values.push_back(rows.values[row]);
    if (!rows.doubt.empty()) pilot.doubt.push_back(rows.doubt[row]);
  }
  return pilot;
}

}  // namespace

double Saturation::Forward(double value) const {
  return std::log(value - end_);
}

double Saturation::Back(double number) const { return end_ + std::exp(number); }

double Saturation::MeanBack(double mean, double variance) const {
  return end_ + std::exp(mean + variance / 2.0);
}

double Saturation::SquareSlope(const std::vector<double>& values) const {
  double sum = 0.0;
  for (const double value : values) sum += (value - end_) * (value - end_);
  return sum / static_cast<double>(values.size());
}

double Saturation::LogSlope(double value) const {
  return -std::log(value - end_);
}

// Takes the mean of the distances' logarithms, each weighed by how likely it
// makes the values. Choosing one would jump from history to history.
Saturation FindSaturation(const Rows& rows, const SaturationOptions& options) {
  const Rows pilot = PilotOf(rows, options.stop);
  const double best = *std::min_element(rows.values.begin(), rows.values.end());
  const double scale = Standardise(pilot, AllOf(pilot)).scale;
  // Nobody comes nearer to the bound than a small part of the usual way there.
  const double most = best - options.bound + kMargin * scale;
  VectorXd start = UsualScales(rows.axes.size(), 0).mean;
  std::vector<double> distances;
  std::vector<double> densities;
  for (const double part : kDistances) {
    const double distance =
        std::min(std::max(part, options.nearest) * scale, most);
    if (!distances.empty() && distance == distances.back()) continue;
    distances.push_back(distance);
    densities.push_back(
        LogDensity(pilot, Saturation(best - distance), start, options.stop));
  }
  const double likeliest =
      *std::max_element(densities.begin(), densities.end());
  double weights = 0.0;
  double logs = 0.0;
  for (std::size_t k = 0; k < densities.size(); ++k) {
    const double weight = std::exp(densities[k] - likeliest);
    weights += weight;
    logs += weight * std::log(distances[k]);
  }
  return Saturation(best - std::exp(logs / weights));
}

}  // namespace frostline::surrogate
