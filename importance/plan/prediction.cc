// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/prediction.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "importance/measure/shared_luck.h"
#include "importance/plan/study_plan.h"
#include "importance/plan/worth_draws.h"

namespace frostline::importance {
namespace {

constexpr int kPredictionDraws = 600;
constexpr double kBestShare = 0.25;  // of the trials, by what was predicted
constexpr std::size_t kFewestBest = 6;
// Trials that believe in no optimism, beside those that were seen.
constexpr double kSober = 6.0;
constexpr double kMostLift = 1.6;
// Of points picked on recorded tables (docs/measured/tables.md), where it was
// .6 to 1.4 for whatever sampler: the best of trials is partly luck, and scales
// are learnt from the same trials.
constexpr double kUsualLift = 0.65;
constexpr double kMostWiden = 2.0;
constexpr double kLeastPredicted = 0.1;
constexpr std::uint64_t kMeanSeed = 40;
constexpr std::uint64_t kRunSeed = 41;
constexpr std::uint64_t kPartSeed = 42;
constexpr double kMostPart = 1.1;
constexpr int kRunsOfDraw = 4;

// Student's with 4 degrees of freedom and variance 1.
double HeavyTailed(Rng& rng) {
  double square = 0.0;
  for (int i = 0; i < 4; ++i) {
    const double z = rng.Normal();
    square += z * z;
  }
  return rng.Normal() / std::sqrt(square / 4.0) / std::sqrt(2.0);
}

std::vector<double> PartsByDraw(const Optimism& optimism, std::size_t draws) {
  const Reach& reach = optimism.reach;
  Rng rng(kPartSeed);
  std::vector<double> parts(draws);
  for (double& part : parts) {
    part = std::clamp(reach.part + reach.part_error * rng.Normal(), 0.0,
                      kMostPart);
  }
  return parts;
}

// Calls `worth` with the point's sober mean, how far its draw is off that, and
// which part of what is beyond the usual is real: draw by draw one part for all
// points.
template <typename Worth>
std::vector<double> ByDraw(const WorthDraws& draws, std::size_t point,
                           const Optimism& optimism, const Worth& worth) {
  const double mean = MeanOf(draws, point);
  const double sober = mean - optimism.lift * DeviationOf(draws, point);
  const std::vector<double> parts = PartsByDraw(optimism, draws.size());
  std::vector<double> worths;
  worths.reserve(draws.size());
  for (std::size_t k = 0; k < draws.size(); ++k) {
    worths.push_back(
        worth(sober, optimism.widen * (draws[k][point] - mean), parts[k]));
  }
  return worths;
}

std::vector<std::size_t> BestPredicted(
    const std::vector<surrogate::Belief>& left, std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&left](std::size_t a, std::size_t b) {
                     return left[a].mean > left[b].mean;
                   });
  const auto share =
      static_cast<std::size_t>(kBestShare * static_cast<double>(count));
  order.resize(std::min(count, std::max(kFewestBest, share)));
  return order;
}

// A score with the luck of `runs` new seeds.
double WithLuck(const StudyBelief& belief, double score, double runs,
                Rng& rng) {
  return belief.Clamp(score + DrawLuck(belief.luck(), runs, rng));
}

}  // namespace

Optimism FindOptimism(const StudyBelief& belief,
                      const std::vector<surrogate::Belief>& left) {
  const std::vector<double>& seen = belief.rows().rows.values;
  const std::vector<std::size_t> best = BestPredicted(left, belief.learnt());
  const double noise = belief.surrogate().noise_variance();
  double lift = 0.0;
  double square = 0.0;
  std::vector<double> predicted_best;
  std::vector<double> seen_best;
  for (const std::size_t row : best) {
    predicted_best.push_back(left[row].mean);
    seen_best.push_back(seen[row]);
    const double variance = std::max(left[row].variance, 1e-300);
    const double off = std::clamp(
        (left[row].mean - seen[row]) / std::sqrt(variance), -3.0, 3.0);
    // As a part of what is not known of the function, its noise left out.
    const double known = std::max(1.0 - noise / variance, kLeastPredicted);
    lift += off / std::sqrt(known);
    square += off * off;
  }
  const double n = static_cast<double>(best.size());
  Optimism optimism;
  optimism.reach = FindReach(predicted_best, seen_best);
  optimism.lift = std::clamp(kUsualLift + lift / (n + kSober), 0.0, kMostLift);
  optimism.widen =
      std::clamp(std::sqrt((square + kSober) / (n + kSober)), 1.0, kMostWiden);
  return optimism;
}

std::vector<double> WithoutOptimism(const WorthDraws& draws, std::size_t point,
                                    const Optimism& optimism) {
  return ByDraw(draws, point, optimism,
                [&](double sober, double off, double part) {
                  return Reached(optimism.reach, sober, part) + off;
                });
}

std::vector<double> InContest(const WorthDraws& draws, std::size_t point,
                              const Optimism& optimism) {
  return ByDraw(draws, point, optimism,
                [&](double sober, double off, double part) {
                  return Reached(optimism.reach, sober + off, part);
                });
}

void FlattenBeside(std::size_t point, const Optimism& optimism,
                   WorthDraws& draws) {
  const double lifted = optimism.lift * DeviationOf(draws, point);
  const std::vector<double> parts = PartsByDraw(optimism, draws.size());
  for (std::size_t k = 0; k < draws.size(); ++k) {
    for (double& worth : draws[k]) {
      worth = Reached(optimism.reach, worth - lifted, parts[k]);
    }
  }
}

WorthDraws DrawBesideBest(const StudyBelief& belief, const PlanChoice& choice) {
  return belief.Draw({choice, belief.ChoiceOf(belief.BestTrial())},
                     kPredictionDraws);
}

Interval PredictMean(const StudyBelief& belief,
                     const std::vector<double>& worths,
                     const Optimism& optimism) {
  Rng rng(kMeanSeed);
  const double noise =
      optimism.widen *
      std::sqrt(belief.surrogate().noise_variance() / kSeedsOfMean);
  std::vector<double> scores;
  scores.reserve(worths.size());
  for (const double worth : worths) {
    const double score = belief.ScoreOf(worth + noise * rng.Normal());
    scores.push_back(WithLuck(belief, score, kSeedsOfMean, rng));
  }
  return QuantilesOf(std::move(scores));
}

Interval PredictRun(const StudyBelief& belief,
                    const std::vector<double>& worths, const Optimism& optimism,
                    std::int64_t evaluation_rows) {
  Rng rng(kRunSeed);
  const double noise =
      optimism.widen * std::sqrt(belief.surrogate().noise_variance());
  std::vector<double> scores;
  for (const double worth : worths) {
    for (int run = 0; run < kRunsOfDraw; ++run) {
      double score = belief.ScoreOf(worth + noise * HeavyTailed(rng));
      score = WithLuck(belief, score, 1.0, rng);
      if (evaluation_rows > 0 && belief.IsShare()) {
        const double rows = static_cast<double>(evaluation_rows);
        const double error = std::sqrt(score * (1.0 - score) / rows);
        score = std::clamp(score + error * rng.Normal(), 0.0, 1.0);
      }
      scores.push_back(score);
    }
  }
  return QuantilesOf(std::move(scores));
}

}  // namespace frostline::importance
