// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/near_trials.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace frostline::importance {
namespace {

constexpr std::size_t kNearestTrials = 5;

struct Nearness {
  double distance;
  double loss;
  std::int64_t number;
};

// So that also a difference in what does not matter is one.
constexpr double kLeastNearWeight = 1e-3;

// By parameter: how much worths change along it, of all parameters' sum.
std::vector<double> WeightsOf(const PlanChoices& choices,
                              const PlanChoice& plan) {
  const StudyBelief& belief = choices.belief();
  const std::vector<std::size_t>& parameters = belief.rows().parameters;
  const surrogate::Cells cells = belief.rows().CellsOf(plan);
  std::vector<double> weights(plan.size(), 0.0);
  double whole = 0.0;
  for (std::size_t axis = 0; axis < parameters.size(); ++axis) {
    const std::vector<double> worths = belief.walk().Along(axis, cells);
    const auto [least, most] =
        std::minmax_element(worths.begin(), worths.end());
    weights[parameters[axis]] = *most - *least;
    whole += *most - *least;
  }
  for (double& weight : weights) {
    weight = kLeastNearWeight + (whole > 0.0 ? weight / whole : 0.0);
  }
  return weights;
}

std::vector<std::int64_t> Supporting(const PlanChoices& choices,
                                     const PlanChoice& plan) {
  const StudyBelief& belief = choices.belief();
  const std::vector<double> weights = WeightsOf(choices, plan);
  std::vector<Nearness> order;
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    double distance = 0.0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::size_t value = belief.rows().choices[i].value_of_row[row];
      distance += value == plan[i] ? 0.0 : weights[i];
    }
    order.push_back({distance, belief.selection().losses[row],
                     belief.selection().trials[row]->number});
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.distance, a.loss, a.number) <
           std::tie(b.distance, b.loss, b.number);
  });
  order.resize(std::min(kNearestTrials, order.size()));
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.loss, a.number) < std::tie(b.loss, b.number);
  });
  std::vector<std::int64_t> numbers;
  numbers.reserve(order.size());
  for (const Nearness& one : order) numbers.push_back(one.number);
  return numbers;
}

}  // namespace

NearTrials FindNearTrials(const PlanChoices& choices, const PlanChoice& plan) {
  const StudyBelief& belief = choices.belief();
  const Space& space = choices.space();
  const std::vector<ModuleRate> rates = space.Rates(choices.PointOf(plan));
  NearTrials near;
  std::pair<int, double> least;
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    const std::vector<ModuleRate> others =
        space.Rates(*belief.selection().points[row]);
    int differs = 0;
    for (std::size_t m = 0; m < rates.size(); ++m) {
      differs += rates[m].rate == others[m].rate ? 0 : 1;
    }
    const std::pair<int, double> one = {differs,
                                        belief.selection().losses[row]};
    if (row > 0 && one >= least) continue;
    least = one;
    near.nearest = belief.selection().trials[row]->number;
  }
  near.differs_in = least.first;
  near.supporting = Supporting(choices, plan);
  return near;
}

}  // namespace frostline::importance
