// SPDX-License-Identifier: Apache-2.0
#include "study/space.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline {
namespace {

// Values that are looked at one by one when points are counted.
constexpr double kMostListed = 10'000;

bool IsMet(const Condition& condition, double parent_value) {
  if (IsAbsent(parent_value)) return false;
  if (condition.values.empty()) {
    return parent_value >= condition.min && parent_value <= condition.max;
  }
  return std::find(condition.values.begin(), condition.values.end(),
                   parent_value) != condition.values.end();
}

double RateOf(const Domain& domain, double value) {
  if (IsAbsent(value)) return 0.0;
  if (const auto* levels = std::get_if<Levels>(&domain)) {
    return levels->rates[static_cast<std::size_t>(value)];
  }
  return value;
}

double NumberOf(std::optional<int> parameter, double fixed, double absent,
                const std::vector<Parameter>& parameters, const Point& point) {
  if (!parameter.has_value()) return fixed;
  const auto i = static_cast<std::size_t>(*parameter);
  return IsAbsent(point[i]) ? absent : RateOf(parameters[i].domain, point[i]);
}

double DecayedRate(const LayerwiseDecay& decay, int steps,
                   const std::vector<Parameter>& parameters,
                   const Point& point) {
  const double base =
      NumberOf(decay.base_parameter, decay.base_rate, 0.0, parameters, point);
  const double factor =
      NumberOf(decay.decay_parameter, decay.decay, 1.0, parameters, point);
  return base * std::pow(factor, steps);
}

}  // namespace

Space::Space(std::vector<Parameter> parameters,
             std::vector<ModuleBinding> modules,
             std::optional<int> prefix_depth,
             const std::optional<LayerwiseDecay>& decay)
    : parameters_(std::move(parameters)),
      modules_(std::move(modules)),
      prefix_depth_(prefix_depth),
      decay_(decay) {}

std::optional<int> Space::IndexOf(const std::string& name) const {
  for (int i = 0; i < size(); ++i) {
    if (parameters_[static_cast<std::size_t>(i)].name == name) return i;
  }
  return std::nullopt;
}

bool Space::IsActive(int i, const Point& point) const {
  const auto& condition = parameters_[static_cast<std::size_t>(i)].condition;
  if (!condition.has_value()) return true;
  return IsActive(condition->parent, point) &&
         IsMet(*condition, point[static_cast<std::size_t>(condition->parent)]);
}

bool Space::HasConditions() const {
  return std::any_of(
      parameters_.begin(), parameters_.end(),
      [](const Parameter& p) { return p.condition.has_value(); });
}

absl::Status Space::Check(const Point& point) const {
  const auto bad = [](const std::string& name, const std::string& cause) {
    return MakeError(ErrorId::kValueOutOfSpace, cause,
                     "give every active parameter a value of its domain",
                     absl::StrCat("parameters.", name));
  };
  if (point.size() != parameters_.size()) {
    return bad("", absl::StrCat("a point of ", point.size(),
                                " values does not fit a space of ", size()));
  }
  for (int i = 0; i < size(); ++i) {
    const Parameter& parameter = parameters_[static_cast<std::size_t>(i)];
    const double value = point[static_cast<std::size_t>(i)];
    const bool active = IsActive(i, point);
    if (active && IsAbsent(value)) {
      return bad(parameter.name,
                 absl::StrCat("parameter ", parameter.name, " has no value"));
    }
    if (!active && !IsAbsent(value)) {
      return bad(parameter.name, absl::StrCat("parameter ", parameter.name,
                                              " has a value although its "
                                              "condition is not met"));
    }
    if (active && !Contains(parameter.domain, value)) {
      return bad(parameter.name,
                 absl::StrCat(value, " is outside the domain of parameter ",
                              parameter.name));
    }
  }
  return absl::OkStatus();
}

Point Space::Canonical(Point point) const {
  // Parents come first, so one pass settles whole chains of conditions.
  for (int i = 0; i < size(); ++i) {
    if (!IsActive(i, point)) point[static_cast<std::size_t>(i)] = kAbsent;
  }
  return point;
}

double Space::RateAt(std::size_t module, const Point& point) const {
  const ModuleBinding& binding = modules_[module];
  if (prefix_depth_.has_value() && binding.frozen_above_depth.has_value()) {
    const double depth = point[static_cast<std::size_t>(*prefix_depth_)];
    if (depth > *binding.frozen_above_depth) return 0.0;
  }
  if (binding.decay_steps.has_value()) {
    return DecayedRate(*decay_, *binding.decay_steps, parameters_, point);
  }
  if (!binding.parameter.has_value()) return binding.fixed_rate;
  const auto i = static_cast<std::size_t>(*binding.parameter);
  return RateOf(parameters_[i].domain, point[i]);
}

std::vector<ModuleRate> Space::Rates(const Point& point) const {
  std::vector<ModuleRate> rates;
  rates.reserve(modules_.size());
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    rates.push_back({modules_[m].module, RateAt(m, point)});
  }
  return rates;
}

// From the last parameter to the first: what hangs on a parameter stands behind
// it, and is counted when it is met. A value of it lets its children choose
// freely if they are active, and leaves them out if not.
double Space::CountPoints() const {
  std::vector<std::vector<std::size_t>> children(parameters_.size());
  std::vector<double> ways(parameters_.size());  // it and all below it
  double count = 1.0;
  for (std::size_t i = parameters_.size(); i-- > 0;) {
    const Parameter& parameter = parameters_[i];
    const double values = CountValues(parameter.domain);
    ways[i] = values;
    if (!children[i].empty() && values <= kMostListed) {
      ways[i] = 0.0;
      for (const double value : ListValues(parameter.domain)) {
        double below = 1.0;
        for (const std::size_t child : children[i]) {
          if (IsMet(*parameters_[child].condition, value)) below *= ways[child];
        }
        ways[i] += below;
      }
    } else {
      for (const std::size_t child : children[i]) ways[i] *= ways[child];
    }
    if (parameter.condition.has_value()) {
      const auto parent = static_cast<std::size_t>(parameter.condition->parent);
      children[parent].push_back(i);
    } else {
      count *= ways[i];
    }
  }
  return count;
}

}  // namespace frostline
