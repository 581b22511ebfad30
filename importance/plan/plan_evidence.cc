// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_evidence.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "importance/effects/level_effects_shares.h"
#include "importance/plan/plan_sentences.h"

namespace frostline {
namespace {

// Predictions of trials not seen are a little too good: the variances have
// seen them.
constexpr double kLeastR2 = 0.05;
constexpr double kChanceOfAny = 0.05;
constexpr std::size_t kNearest = 5;
// A plan is chosen because it looks good, by variances that the same trials
// gave: it is this much less sure than a point given beforehand. Without it
// about 80 % of the 95 % intervals hold on trials that a sampler chose.
constexpr double kChosenDoubt = 1.3;
// So that also a difference in what does not matter is one.
constexpr double kLeastWeight = 1e-3;

}  // namespace

bool ExplainsAnything(const LevelEffects& model, double r2) {
  if (!(r2 >= kLeastR2)) return false;
  std::size_t mains = 0;
  for (const EffectTerm& term : model.terms()) mains += term.size() == 1;
  for (std::size_t t = 0; t < mains; ++t) {
    const double chance = kChanceOfAny / static_cast<double>(mains);
    if (LogChanceOf(model, t) < std::log(chance)) return true;
  }
  return model.terms().size() > mains && r2 >= kSolidR2;
}

std::size_t BestRow(const FittedLevels& fitted) {
  const std::vector<double>& losses = fitted.selection().losses;
  return static_cast<std::size_t>(
      std::min_element(losses.begin(), losses.end()) - losses.begin());
}

Interval PredictScore(const FittedLevels& fitted, const PlanSearch& search,
                      const PlanChoice& choice) {
  Belief loss = fitted.surface().At(search.choices().CellsOf(choice));
  loss.deviation = kChosenDoubt * std::hypot(loss.deviation,
                                             std::sqrt(fitted.rest_variance()));
  return fitted.AsScore(loss);
}

Interval AverageScore(const FittedLevels& fitted) {
  Belief loss = fitted.surface().Marginal({}, {});
  loss.deviation =
      std::hypot(loss.deviation, std::sqrt(fitted.rest_variance()));
  return fitted.AsScore(loss);
}

Interval ScoreOfTrial(const FittedLevels& fitted, const PlanSearch& search,
                      std::size_t row) {
  const Point& point = *fitted.selection().points[row];
  const std::vector<double>& residuals = fitted.model().ridge().residuals();
  double surprise = 0.0;
  double repeats = 0.0;
  for (std::size_t other = 0; other < residuals.size(); ++other) {
    if (!SamePoint(*fitted.selection().points[other], point)) continue;
    surprise += residuals[other];
    repeats += 1.0;
  }
  Belief loss = fitted.surface().At(
      search.choices().CellsOf(search.choices().OfTrial(row)));
  const double rest = fitted.rest_variance();
  const double noise =
      std::max(fitted.model().ridge().noise() - rest, 0.0) / repeats;
  const double kept = rest > 0.0 ? rest / (rest + noise) : 0.0;
  loss.mean += kept * surprise / repeats;
  loss.deviation = std::hypot(loss.deviation, std::sqrt(rest * (1.0 - kept)));
  return fitted.AsScore(loss);
}

std::vector<std::int64_t> NearestTrials(const FittedLevels& fitted,
                                        const PlanChoice& choice) {
  const EffectShares shares = SharesOf(fitted.model());
  // Distance, loss, number: near ones first, of those the best first.
  std::vector<std::tuple<double, double, std::int64_t>> order;
  order.reserve(fitted.trials().size());
  for (std::size_t row = 0; row < fitted.trials().size(); ++row) {
    double distance = 0.0;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const bool same = fitted.value_of_row(i)[row] == choice[i];
      distance += same ? 0.0 : shares.total[i] + kLeastWeight;
    }
    order.emplace_back(distance, fitted.selection().losses[row],
                       fitted.trials()[row]->number);
  }
  const std::size_t count = std::min(kNearest, order.size());
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(count),
                    order.end());
  order.resize(count);
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<1>(a), std::get<2>(a)) <
           std::tie(std::get<1>(b), std::get<2>(b));
  });
  std::vector<std::int64_t> numbers;
  numbers.reserve(order.size());
  for (const auto& [distance, loss, number] : order) numbers.push_back(number);
  return numbers;
}

}  // namespace frostline
