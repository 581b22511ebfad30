// SPDX-License-Identifier: Apache-2.0
#include "tests/sampler/odd_spaces.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace frostline::sampler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
const T& OneOf(const std::vector<T>& values, Rng& rng) {
  return values[static_cast<std::size_t>(rng.Below(values.size()))];
}

Domain OddDomain(Rng& rng, bool finite) {
  static const std::vector<Domain> kFinite = {
      Levels{{0, 2e-6, 2e-5}},
      Levels{{1e-3}},
      Levels{{0, 1, 2, 3, 4, 5, 6}},
      Categorical{{"\"a\"", "\"b\""}},
      Categorical{{"null"}},
      IntRange{-2, 3, 2, false},
      IntRange{5, 5, 1, false},
      IntRange{1, 6, 1, true},
      FloatRange{0.0, 0.3, 0.1, false},
      FloatRange{-1.0, 1.0, 0.75, false}};
  static const std::vector<Domain> kContinuous = {
      LogUniform{1e-10, 1e-5, true},
      LogUniform{1e-300, 1e300, true},
      LogUniform{1e-4, 2e-4, false},
      FloatRange{-1e307, 1e307, 0.0, false},
      FloatRange{0.5, 0.5 + 1e-12, 0.0, false},
      FloatRange{1e-12, 1e9, 0.0, true},
      FloatRange{0.0, 1e6, 1e-3, false},
      IntRange{-(std::int64_t{1} << 53), std::int64_t{1} << 53, 1, false},
      IntRange{1, std::int64_t{1} << 53, 1, true}};
  return finite || rng.Uniform() < 0.5 ? OneOf(kFinite, rng)
                                       : OneOf(kContinuous, rng);
}

double OddValue(const Domain& domain, Rng& rng) {
  const auto between = [&rng](double lo, double hi) {
    // Ends are where mistakes live.
    const double u = rng.Uniform();
    const double value = lo * (1.0 - u) + hi * u;
    return u < 0.1 ? lo : u > 0.9 ? hi : std::clamp(value, lo, hi);
  };
  if (const auto* d = std::get_if<LogUniform>(&domain)) {
    return d->freeze && rng.Uniform() < 0.3 ? 0.0 : between(d->lo, d->hi);
  }
  if (const auto* d = std::get_if<FloatRange>(&domain)) {
    if (d->step == 0.0) return between(d->lo, d->hi);
    const double steps = std::floor((d->hi - d->lo) / d->step * (1.0 + 1e-12));
    const double k = std::floor(rng.Uniform() * (steps + 1.0));
    return std::min(d->hi, d->lo + k * d->step);
  }
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    const auto count =
        static_cast<std::uint64_t>((d->hi - d->lo) / d->step + 1);
    const auto k = static_cast<std::int64_t>(rng.Below(count));
    return static_cast<double>(d->lo + k * d->step);
  }
  return static_cast<double>(
      rng.Below(static_cast<std::uint64_t>(CountValues(domain))));
}

Condition OddCondition(const std::vector<Parameter>& parents, Rng& rng) {
  Condition condition;
  condition.parent = static_cast<int>(rng.Below(parents.size()));
  const Domain& domain =
      parents[static_cast<std::size_t>(condition.parent)].domain;
  const double a = OddValue(domain, rng), b = OddValue(domain, rng);
  if (rng.Uniform() < 0.5 || std::holds_alternative<Categorical>(domain)) {
    condition.values = {a, b};
  } else {
    condition.min = std::min(a, b);
    condition.max = std::max(a, b);
  }
  return condition;
}

double OddNumber(Rng& rng) {
  static const std::vector<double> kNumbers = {0.0,    -0.0,   1.0, 1.0, 1e308,
                                               -1e308, 5e-324, 0.1, -3.5};
  return rng.Uniform() < 0.3 ? OneOf(kNumbers, rng) : rng.Normal();
}

// No store keeps a value that is not finite; a sampler survives it all the
// same.
double OddValueOfMetric(Rng& rng) {
  return rng.Uniform() < 0.05
             ? OneOf<double>({kAbsent, kInfinity, -kInfinity}, rng)
             : OddNumber(rng);
}

Point BrokenPoint(Point point, Rng& rng) {
  if (rng.Uniform() < 0.3) point.resize(point.size() + 1, 0.5);
  if (rng.Uniform() < 0.3 && !point.empty()) point.pop_back();
  for (double& value : point) {
    if (rng.Uniform() < 0.5) {
      value = OneOf<double>({-1.0, 0.5, 1e300, kInfinity, kAbsent}, rng);
    }
  }
  return point;
}

}  // namespace

Space OddSpace(Rng& rng, bool finite) {
  std::vector<Parameter> parameters;
  const auto size = 1 + rng.Below(finite ? 4 : 6);
  for (std::uint64_t i = 0; i < size; ++i) {
    Parameter parameter;
    parameter.name = "p" + std::to_string(i);
    parameter.domain = OddDomain(rng, finite);
    if (i > 0 && rng.Uniform() < 0.4) {
      parameter.condition = OddCondition(parameters, rng);
    }
    parameters.push_back(std::move(parameter));
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

std::vector<Objective> OddObjectives(Rng& rng) {
  std::vector<Objective> objectives = {{"loss", Direction::kMinimize}};
  if (rng.Uniform() < 0.3) objectives[0].direction = Direction::kMaximize;
  if (rng.Uniform() < 0.2) objectives.push_back({"f1", Direction::kMaximize});
  return objectives;
}

Point OddPoint(const Space& space, Rng& rng) {
  Point point;
  for (const Parameter& parameter : space.parameters()) {
    point.push_back(OddValue(parameter.domain, rng));
  }
  return space.Canonical(std::move(point));
}

History OddHistory(const Space& space, std::size_t objectives, int trials,
                   Rng& rng) {
  static const std::vector<TrialState> kStates = {
      TrialState::kQueued,     TrialState::kRunning,   TrialState::kSucceeded,
      TrialState::kSucceeded,  TrialState::kSucceeded, TrialState::kPruned,
      TrialState::kInfeasible, TrialState::kFailed,    TrialState::kCancelled};
  // Now and then all end alike, or all are as good as each other.
  const bool alike = rng.Uniform() < 0.1;
  const TrialState same_state = OneOf(kStates, rng);
  const bool level = rng.Uniform() < 0.1;
  const double same_value = OddNumber(rng);
  History history;
  for (int i = 0; i < trials; ++i) {
    Observation trial;
    // Neighbours are swapped now and then, so numbers come out of order.
    trial.number = rng.Uniform() < 0.1 && i > 0 ? i - 1 : i;
    trial.state = alike ? same_state : OneOf(kStates, rng);
    trial.point = OddPoint(space, rng);
    if (rng.Uniform() < 0.1) trial.point = BrokenPoint(trial.point, rng);
    for (std::size_t m = 0;
         m < objectives && trial.state == TrialState::kSucceeded; ++m) {
      trial.values.push_back(level ? same_value : OddValueOfMetric(rng));
    }
    for (std::uint64_t s = 0; s < rng.Below(4); ++s) {
      trial.intermediate.push_back(
          {static_cast<std::int64_t>(s),
           rng.Uniform() < 0.2
               ? OneOf<double>({kAbsent, kInfinity, -kInfinity}, rng)
               : OddNumber(rng)});
    }
    if (rng.Uniform() < 0.2) trial.constraints = {OddNumber(rng), kAbsent};
    history.Put(std::move(trial));
  }
  return history;
}

}  // namespace frostline::sampler
