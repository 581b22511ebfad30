// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/cost_model.h"

#include <algorithm>
#include <cmath>
#include <variant>

namespace frostline::sampler {
namespace {

bool IsRate(const Domain& domain) {
  return std::holds_alternative<Levels>(domain) ||
         std::holds_alternative<LogUniform>(domain);
}

// By module: whether it trains.
std::vector<bool> Training(const Space& space, const Point& point) {
  std::vector<bool> trains;
  for (const ModuleRate& rate : space.Rates(point)) {
    trains.push_back(rate.rate > 0.0);
  }
  if (!trains.empty()) return trains;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const Domain& domain = space.parameters()[i].domain;
    if (!IsRate(domain)) continue;
    const auto* levels = std::get_if<Levels>(&domain);
    const bool frozen =
        IsAbsent(point[i]) ||
        (levels == nullptr
             ? point[i] == 0.0
             : levels->rates[static_cast<std::size_t>(point[i])] == 0.0);
    trains.push_back(!frozen);
  }
  return trains;
}

bool IsUsable(const Observation& trial) {
  return trial.state == TrialState::kSucceeded && trial.cost_s > 0.0 &&
         std::isfinite(trial.cost_s);
}

}  // namespace

double RelativeCost(const Space& space, const Point& point) {
  const std::vector<bool> trains = Training(space, point);
  if (trains.empty()) return 1.0;
  double units = 0.0;
  bool below = false;
  for (const bool one : trains) {
    units += 1.0 + (below ? 1.0 : 0.0) + (one ? 1.0 : 0.0);
    below = below || one;
  }
  return units / (3.0 * static_cast<double>(trains.size()));
}

CostModel::CostModel(const Space& space, const History& history,
                     const std::vector<std::uint32_t>& trials)
    : space_(space) {
  double n = 0.0, r = 0.0, c = 0.0, rr = 0.0, rc = 0.0;
  for (const std::uint32_t i : trials) {
    const Observation& trial = history.trials()[i];
    if (!IsUsable(trial)) continue;
    const double share = RelativeCost(space, trial.point);
    n += 1.0;
    r += share;
    c += trial.cost_s;
    rr += share * share;
    rc += share * trial.cost_s;
  }
  const double spread = rr - r * r / std::max(n, 1.0);
  if (n < 3.0 || !(spread > 1e-9 * rr) || !std::isfinite(rc)) return;
  slope_ = std::max(0.0, (rc - r * c / n) / spread);
  fixed_ = (c - slope_ * r) / n;
  if (fixed_ < 0.0) {
    fixed_ = 0.0;
    slope_ = rc / rr;
  }
}

double CostModel::LogCost(const Point& point) const {
  return std::log(
      std::max(1e-300, fixed_ + slope_ * RelativeCost(space_, point)));
}

}  // namespace frostline::sampler
