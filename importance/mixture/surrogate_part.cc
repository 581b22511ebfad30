// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/surrogate_part.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "importance/cells.h"
#include "importance/effects/grouped_ridge.h"

namespace frostline::importance {
namespace {

constexpr double kNoPart = std::numeric_limits<double>::quiet_NaN();
constexpr int kEffectDraws = 200;
constexpr int kEffectDrawsWithoutIntervals = 60;
// The weight before any trial is seen (w0 in the header), and how many trials
// that counts as (k).
constexpr double kUsualWeight = 1.0;
constexpr double kUsualTrials = 12.0;
// A trial that is missed by more deviations than this counts as missed by so
// many.
constexpr double kFarOff = 3.0;

void AddTo(std::vector<double>& sum, const std::vector<double>& one,
           double weight) {
  sum.resize(one.size(), 0.0);
  for (std::size_t i = 0; i < one.size(); ++i) sum[i] += weight * one[i];
}

void AddShares(MixtureShares& sum, const MixtureShares& one, double weight) {
  AddTo(sum.main, one.main, weight);
  AddTo(sum.total, one.total, weight);
  AddTo(sum.pairs, one.pairs, weight);
  AddTo(sum.groups, one.groups, weight);
  sum.subsets.resize(one.subsets.size());
  for (std::size_t s = 0; s < one.subsets.size(); ++s) {
    sum.subsets[s].together += weight * one.subsets[s].together;
    sum.subsets[s].beyond += weight * one.subsets[s].beyond;
  }
  sum.unexplained += weight * one.unexplained;
  sum.variance += weight * one.variance;
}

// REQUIRES: there is a draw.
MixtureShares MeanShares(const std::vector<MixtureShares>& draws) {
  MixtureShares mean;
  for (const MixtureShares& one : draws) {
    AddShares(mean, one, 1.0 / static_cast<double>(draws.size()));
  }
  // A sum of many parts may come out above 1 by rounding.
  mean.unexplained = std::min(mean.unexplained, 1.0);
  for (double& one : mean.main) one = std::min(one, 1.0);
  for (double& one : mean.total) one = std::min(one, 1.0);
  for (double& one : mean.groups) one = std::min(one, 1.0);
  for (SubsetVariance& one : mean.subsets) {
    one.together = std::min(one.together, 1.0);
  }
  return mean;
}

// Turns draws of the process into shares, with the model's pairs and subsets.
class ProcessShares {
 public:
  // Keeps references.
  ProcessShares(const surrogate::EffectDraws& draws, const MixtureModel& shares,
                const std::vector<std::vector<int>>& groups);

  // By pair of the model: its index among the pairs of the draws.
  const std::vector<std::size_t>& place_of_pair() const {
    return place_of_pair_;
  }
  MixtureShares SharesOf(std::size_t draw) const;

 private:
  // The variance of all terms within the set, and of the set's own term.
  double Within(std::vector<int> set, std::size_t draw) const;
  double Beyond(const std::vector<int>& set, std::size_t draw) const;
  // The part of all terms of three axes that lies within the set, or is its
  // own.
  double HigherPart(std::vector<int> set, bool own) const;

  const surrogate::EffectDraws& draws_;
  const MixtureModel& shares_;
  const std::vector<std::vector<int>>& groups_;
  std::vector<std::size_t> place_of_pair_;
};

ProcessShares::ProcessShares(const surrogate::EffectDraws& draws,
                             const MixtureModel& shares,
                             const std::vector<std::vector<int>>& groups)
    : draws_(draws), shares_(shares), groups_(groups) {
  std::map<surrogate::EffectDraws::Pair, std::size_t> place;
  for (std::size_t p = 0; p < draws.pairs.size(); ++p) {
    place[draws.pairs[p]] = p;
  }
  for (const AxisPair& pair : shares.pairs()) {
    place_of_pair_.push_back(place.at(pair));
  }
}

MixtureShares ProcessShares::SharesOf(std::size_t draw) const {
  const std::vector<double>& main = draws_.main[draw];
  const std::vector<double>& joint = draws_.joint[draw];
  const double higher = draws_.higher[draw];
  MixtureShares made;
  made.variance = higher;
  for (const double one : main) made.variance += one;
  for (const double one : joint) made.variance += one;
  const double unit = made.variance > 0.0 ? 1.0 / made.variance : 0.0;
  double rest = higher;
  for (std::size_t a = 0; a < main.size(); ++a) {
    made.main.push_back(main[a] * unit);
    made.total.push_back(made.main[a] + higher * draws_.higher_part[a] * unit);
  }
  for (std::size_t p = 0; p < joint.size(); ++p) {
    rest += joint[p];
    made.total[draws_.pairs[p].first] += joint[p] * unit;
    made.total[draws_.pairs[p].second] += joint[p] * unit;
  }
  for (const std::size_t p : place_of_pair_) {
    made.pairs.push_back(joint[p] * unit);
    rest -= joint[p];
  }
  made.unexplained = std::clamp(rest * unit, 0.0, 1.0);
  for (const std::vector<int>& group : groups_) {
    made.groups.push_back(Within(group, draw) * unit);
  }
  for (const std::vector<int>& subset : shares_.subsets()) {
    made.subsets.push_back(
        {Within(subset, draw) * unit, Beyond(subset, draw) * unit});
  }
  return made;
}

double ProcessShares::Within(std::vector<int> set, std::size_t draw) const {
  std::sort(set.begin(), set.end());
  std::vector<bool> inside(draws_.main[draw].size(), false);
  double sum = draws_.higher[draw] * HigherPart(set, false);
  for (const int a : set) {
    inside[static_cast<std::size_t>(a)] = true;
    sum += draws_.main[draw][static_cast<std::size_t>(a)];
  }
  for (std::size_t p = 0; p < draws_.pairs.size(); ++p) {
    const auto [a, b] = draws_.pairs[p];
    if (inside[a] && inside[b]) sum += draws_.joint[draw][p];
  }
  return sum;
}

double ProcessShares::Beyond(const std::vector<int>& set,
                             std::size_t draw) const {
  if (set.size() == 1) {
    return draws_.main[draw][static_cast<std::size_t>(set[0])];
  }
  if (set.size() == 2) {
    double sum = 0.0;
    for (std::size_t p = 0; p < draws_.pairs.size(); ++p) {
      const auto [a, b] = draws_.pairs[p];
      const bool is_it =
          std::minmax(static_cast<int>(a), static_cast<int>(b)) ==
          std::minmax(set[0], set[1]);
      if (is_it) sum += draws_.joint[draw][p];
    }
    return sum;
  }
  return draws_.higher[draw] * HigherPart(set, true);
}

double ProcessShares::HigherPart(std::vector<int> set, bool own) const {
  std::sort(set.begin(), set.end());
  if (set.size() < 3 || (own && set.size() > 3)) return 0.0;
  double e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (const int a : set) {
    const double v = draws_.joint_scale[static_cast<std::size_t>(a)];
    e3 += v * e2;
    e2 += v * e1;
    e1 += v;
  }
  double all1 = 0.0, all2 = 0.0, all3 = 0.0;
  for (const double v : draws_.joint_scale) {
    all3 += v * all2;
    all2 += v * all1;
    all1 += v;
  }
  return all3 > 0.0 ? e3 / all3 : 0.0;
}

surrogate::Rows BelievedRowsOf(const Space& space,
                               const std::vector<EffectAxis>& axes,
                               const std::vector<double>& targets) {
  surrogate::Rows rows;
  rows.values = targets;
  rows.cells.resize(targets.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    AddSurrogateAxis(space.parameters()[i].domain, axes[i], rows);
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

// Returns the deviation of what is missed, by the median, so a run that
// diverged does not set it.
double RobustDeviation(std::vector<double> missed) {
  for (double& one : missed) one = std::abs(one);
  const auto middle =
      missed.begin() + static_cast<std::ptrdiff_t>(missed.size() / 2);
  std::nth_element(missed.begin(), middle, missed.end());
  return *middle / 0.6745;
}

// What each model misses of each trial, as if it had not been seen. After those
// with a target come the hopeless ones, which the mixture has never seen.
struct Missed {
  std::vector<double> process;
  std::vector<double> mixture;
};

Missed WhatIsMissed(const FittedProcess& process, const Mixture& mixture,
                    const MixtureModel& shares,
                    const std::vector<FinePoint>& hopeless,
                    std::vector<double> targets) {
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
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const surrogate::Belief& without = process.left_out[row];
    missed.process.push_back(
        targets[row] -
        process.saturation.MeanBack(without.mean, without.variance));
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

// Returns how often the drawn curve of the ordered cells falls, which is
// better.
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

// Returns how often both trained add to the loss.
double SubstitutesProbability(const surrogate::EffectDraws& draws,
                              std::size_t pair) {
  double substitutes = 0.0;
  for (const auto& both : draws.both) {
    if (both[pair] == 0.0) return kNoPart;
    substitutes += both[pair] > 0.0 ? 1.0 : 0.0;
  }
  return substitutes / static_cast<double>(draws.both.size());
}

// Sets the weight, and how well both predict together.
void WeighPart(const Missed& missed, const std::vector<double>& targets,
               double variance, SurrogatePart& part) {
  part.weight = WeightOf(missed);
  double square = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const double both = part.weight * missed.process[row] +
                        (1.0 - part.weight) * missed.mixture[row];
    square += both * both / static_cast<double>(targets.size());
  }
  part.r2 = 1.0 - square / variance;
}

// Fills in shares, curves and chances, by the draws.
void DescribePart(const surrogate::EffectDraws& draws,
                  const LevelEffects& model, const MixtureModel& shares,
                  const std::vector<std::vector<int>>& groups,
                  SurrogatePart& part) {
  const ProcessShares maker(draws, shares, groups);
  for (std::size_t d = 0; d < draws.main.size(); ++d) {
    part.drawn.draws.push_back(maker.SharesOf(d));
  }
  part.drawn.shares = MeanShares(part.drawn.draws);
  const double each = 1.0 / static_cast<double>(draws.curves.size());
  part.curves.resize(model.axes().size());
  for (std::size_t a = 0; a < part.curves.size(); ++a) {
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
}

}  // namespace

DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight) {
  if (weight == 0.0) return first;
  MixtureShares both;
  AddShares(both, first.shares, 1.0 - weight);
  AddShares(both, second.shares, weight);
  first.shares = std::move(both);
  double due = 0.0;
  std::size_t next = 0;
  for (MixtureShares& one : first.draws) {
    due += weight;
    if (due < 1.0) continue;
    due -= 1.0;
    one = second.draws[next++ % second.draws.size()];
  }
  return first;
}

std::optional<FittedProcess> FitProcess(const Space& space,
                                        const std::vector<EffectAxis>& axes,
                                        const std::vector<FineAxis>& fine,
                                        const std::vector<double>& targets,
                                        const std::vector<FinePoint>& hopeless,
                                        const SurrogatePartOptions& options) {
  if (axes.size() > kMaxSurrogateAxes ||
      !(GroupedRidge(targets).target_variance() > 0.0)) {
    return std::nullopt;
  }
  surrogate::Rows rows = BelievedRowsOf(space, axes, targets);
  // One point alone teaches nothing but its noise.
  if (std::equal(rows.cells.begin() + 1, rows.cells.end(),
                 rows.cells.begin())) {
    return std::nullopt;
  }
  const std::stop_token& stop = options.stop;
  FittedProcess fitted{.saturation =
                           surrogate::FindSaturation(rows, {.stop = stop})};
  if (stop.stop_requested()) return std::nullopt;
  for (double& value : rows.values) value = fitted.saturation.Forward(value);
  surrogate::AddHopeless(BelievedCellsOf(hopeless, fine), rows);
  const surrogate::ForEach for_each = [&options](std::size_t count,
                                                 const auto& body) {
    ParallelFor(options.threads, count, body, options.stop);
  };
  const surrogate::Surrogate process(
      std::move(rows),
      {.seed = options.seed, .stop = stop, .for_each = for_each});
  if (stop.stop_requested()) return std::nullopt;
  fitted.noise_variance = process.noise_variance();
  fitted.left_out = process.LeftOut(stop, for_each);
  if (stop.stop_requested()) return std::nullopt;
  if (options.intervals) {
    fitted.influence = std::make_shared<const surrogate::Influence>(process);
  }
  fitted.draws = process.DrawEffects(
      options.intervals ? kEffectDraws : kEffectDrawsWithoutIntervals,
      options.seed, /*saturates=*/true, stop, for_each);
  if (stop.stop_requested()) return std::nullopt;
  return fitted;
}

SurrogatePart MakeSurrogatePart(const std::optional<FittedProcess>& process,
                                const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless) {
  SurrogatePart part;
  part.r2 = mixture.r2;
  if (!process.has_value()) return part;
  const double variance = model.ridge().target_variance();
  WeighPart(WhatIsMissed(*process, mixture, shares, hopeless, targets), targets,
            variance, part);
  part.influence = process->influence;
  part.noise_share =
      std::clamp(process->noise_variance *
                     process->saturation.SquareSlope(targets) / variance,
                 0.0, 1.0);
  DescribePart(process->draws, model, shares, groups, part);
  return part;
}

}  // namespace frostline::importance
