// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/surrogate_part.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "importance/cells/surrogate_axis.h"
#include "importance/cells/surrogate_rows.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/process_shares.h"
#include "surrogate/saturation.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {
namespace {

constexpr double kNoPart = std::numeric_limits<double>::quiet_NaN();
constexpr int kEffectDraws = 200;
constexpr int kEffectDrawsWithoutIntervals = 60;
// Before any trial is seen the process is believed so far, by so many trials.
constexpr double kUsualWeight = 1.0;
constexpr double kUsualTrials = 12.0;
// What is missed by more than so many deviations counts as so much.
constexpr double kFarOff = 3.0;

surrogate::Rows BelievedRowsOf(const Space& space, const LevelEffects& model,
                               const std::vector<double>& targets) {
  surrogate::Rows rows;
  rows.values = targets;
  rows.cells.resize(targets.size());
  for (std::size_t i = 0; i < model.axes().size(); ++i) {
    AddSurrogateAxis(space.parameters()[i].domain, model.axes()[i], rows);
  }
  return rows;
}

std::vector<surrogate::Cells> BelievedCellsOf(
    const std::vector<FinePoint>& points, const std::vector<FineAxis>& axes) {
  std::vector<surrogate::Cells> cells(points.size());
  for (std::size_t row = 0; row < points.size(); ++row) {
    cells[row].reserve(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      cells[row].push_back(
          static_cast<std::uint8_t>(axes[i].effect_cell[points[row][i]]));
    }
  }
  return cells;
}

// Of what is missed, by its middle: a run that diverged does not set it.
double RobustDeviation(std::vector<double> missed) {
  for (double& one : missed) one = std::abs(one);
  const auto middle =
      missed.begin() + static_cast<std::ptrdiff_t>(missed.size() / 2);
  std::nth_element(missed.begin(), middle, missed.end());
  return *middle / 0.6745;
}

// Of each trial, as if it had not been seen; after those with a target come the
// hopeless ones, which the mixture has never seen.
struct Missed {
  std::vector<double> process;
  std::vector<double> mixture;
};

Missed WhatIsMissed(const surrogate::Surrogate& process,
                    const surrogate::Saturation& saturation,
                    const Mixture& mixture, const MixtureModel& shares,
                    const std::vector<FinePoint>& hopeless,
                    std::vector<double> targets, const std::stop_token& stop) {
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) /
                      static_cast<double>(targets.size());
  const double worst = *std::max_element(targets.begin(), targets.end());
  targets.resize(targets.size() + hopeless.size(), worst);
  Missed missed{{}, mixture.missed};
  missed.mixture.reserve(targets.size());
  for (const FinePoint& point : hopeless) {
    missed.mixture.push_back(worst - shares.Predict(point, mean));
  }
  missed.process.reserve(targets.size());
  const std::vector<surrogate::Belief> left_out = process.LeftOut(stop);
  for (std::size_t row = 0; row < targets.size(); ++row) {
    missed.process.push_back(
        targets[row] -
        saturation.MeanBack(left_out[row].mean, left_out[row].variance));
  }
  return missed;
}

double WeightOf(const Missed& missed) {
  const auto& [process, mixture] = missed;
  const double far =
      kFarOff * std::max(RobustDeviation(process), RobustDeviation(mixture));
  double product = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < process.size(); ++i) {
    const double m = std::clamp(mixture[i], -far, far);
    const double by = m - std::clamp(process[i], -far, far);
    product += m * by;
    difference += by * by;
  }
  if (!(difference > 0.0)) return kUsualWeight;
  const double usual =
      kUsualTrials * difference / static_cast<double>(process.size());
  return std::clamp((product + usual * kUsualWeight) / (difference + usual),
                    0.0, 1.0);
}

// Curves of the ordered cells, as drawn: how often they fall, which is better.
double RisingProbability(const EffectAxis& axis,
                         const surrogate::EffectDraws& draws, std::size_t a) {
  if (!axis.is_ordered || axis.cells() - axis.first_ordered < 2) return kNoPart;
  double rising = 0.0;
  for (const auto& curves : draws.curves) {
    const auto begin =
        curves[a].begin() + static_cast<std::ptrdiff_t>(axis.first_ordered);
    const double direction =
        ClearDirectionOf(std::vector<double>(begin, curves[a].end()));
    rising += direction > 0.0 ? 1.0 : direction < 0.0 ? 0.0 : 0.5;
  }
  return rising / static_cast<double>(draws.curves.size());
}

// Targets are losses: what both trained add to a loss is lost.
double SubstitutesProbability(const surrogate::EffectDraws& draws,
                              std::size_t pair) {
  double substitutes = 0.0;
  for (const auto& both : draws.both) {
    if (both[pair] == 0.0) return kNoPart;
    substitutes += both[pair] > 0.0 ? 1.0 : 0.0;
  }
  return substitutes / static_cast<double>(draws.both.size());
}

}  // namespace

SurrogatePart MakeSurrogatePart(const Space& space, const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless,
                                const SurrogatePartOptions& options) {
  SurrogatePart part;
  part.r2 = mixture.r2;
  const std::size_t axes = model.axes().size();
  if (axes > kMaxSurrogateAxes || !(model.ridge().target_variance() > 0.0)) {
    return part;
  }
  surrogate::Rows rows = BelievedRowsOf(space, model, targets);
  // Of one point alone nothing can be learnt but its noise.
  if (std::equal(rows.cells.begin() + 1, rows.cells.end(),
                 rows.cells.begin())) {
    return part;
  }
  const surrogate::Saturation saturation =
      surrogate::FindSaturation(rows, {.stop = options.stop});
  if (options.stop.stop_requested()) return part;
  for (double& value : rows.values) value = saturation.Forward(value);
  surrogate::AddHopeless(BelievedCellsOf(hopeless, shares.axes()), rows);
  const surrogate::Surrogate process(
      std::move(rows), {.seed = options.seed, .stop = options.stop});
  if (options.stop.stop_requested()) return part;
  const Missed missed = WhatIsMissed(process, saturation, mixture, shares,
                                     hopeless, targets, options.stop);
  if (options.stop.stop_requested()) return part;
  part.weight = WeightOf(missed);
  double square = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const double both = part.weight * missed.process[row] +
                        (1.0 - part.weight) * missed.mixture[row];
    square += both * both / static_cast<double>(targets.size());
  }
  const double variance = model.ridge().target_variance();
  part.r2 = 1.0 - square / variance;
  part.noise_share = std::clamp(
      process.noise_variance() * saturation.SquareSlope(targets) / variance,
      0.0, 1.0);
  const surrogate::EffectDraws draws = process.DrawEffects(
      options.intervals ? kEffectDraws : kEffectDrawsWithoutIntervals,
      options.seed, /*saturates=*/true, options.stop);
  if (options.stop.stop_requested()) return part;
  const ProcessShares maker(draws, shares, groups);
  for (std::size_t d = 0; d < draws.main.size(); ++d) {
    part.drawn.draws.push_back(maker.SharesOf(d));
  }
  part.drawn.shares = MeanOf(part.drawn.draws);
  const double each = 1.0 / static_cast<double>(draws.curves.size());
  part.curves.resize(axes);
  for (std::size_t a = 0; a < axes; ++a) {
    for (const auto& curves : draws.curves) {
      part.curves[a].resize(curves[a].size(), 0.0);
      for (std::size_t c = 0; c < curves[a].size(); ++c) {
        part.curves[a][c] += each * curves[a][c];
      }
    }
    part.rising_probability.push_back(
        RisingProbability(model.axes()[a], draws, a));
  }
  for (const std::size_t p : maker.place_of_pair()) {
    part.substitutes_probability.push_back(SubstitutesProbability(draws, p));
  }
  return part;
}

}  // namespace frostline::importance
