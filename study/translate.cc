// SPDX-License-Identifier: Apache-2.0
#include "study/translate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

namespace frostline {
namespace {

// Rates come from text, so the same rate may differ in its last digits.
bool SameRate(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(a, b);
}

std::optional<double> TranslatedRateOf(const std::vector<ModuleRate>& rates,
                                       const std::string& module) {
  for (const ModuleRate& rate : rates) {
    if (rate.module == module) return rate.rate;
  }
  return std::nullopt;
}

// The value that stands for a rate; nothing when the domain has none.
std::optional<double> ValueOfRate(const Domain& domain, double rate) {
  if (const auto* const levels = std::get_if<Levels>(&domain)) {
    for (std::size_t i = 0; i < levels->rates.size(); ++i) {
      if (SameRate(levels->rates[i], rate)) return static_cast<double>(i);
    }
    return std::nullopt;
  }
  return Contains(domain, rate) ? std::optional(rate) : std::nullopt;
}

// The value of `to` that is written as `value` of `from` is.
std::optional<double> ValueOfSameName(const Domain& from, double value,
                                      const Domain& to) {
  const auto* const choices = std::get_if<Categorical>(&to);
  if (choices != nullptr && std::holds_alternative<Categorical>(from)) {
    const auto& list = choices->choices;
    const auto same =
        std::find(list.begin(), list.end(), FormatValue(from, value));
    if (same == list.end()) return std::nullopt;
    return static_cast<double>(same - list.begin());
  }
  if (const auto* const levels = std::get_if<Levels>(&from)) {
    return ValueOfRate(to, levels->rates[static_cast<std::size_t>(value)]);
  }
  if (choices != nullptr || std::holds_alternative<Categorical>(from)) {
    return std::nullopt;
  }
  return ValueOfRate(to, value);
}

std::optional<double> ValueByName(const Space& from, const Point& point,
                                  const Parameter& parameter) {
  const std::optional<int> index = from.IndexOf(parameter.name);
  if (!index.has_value()) return std::nullopt;
  const auto i = static_cast<std::size_t>(*index);
  if (IsAbsent(point[i])) return std::nullopt;
  return ValueOfSameName(from.parameters()[i].domain, point[i],
                         parameter.domain);
}

}  // namespace

std::optional<Point> TranslatePoint(const Space& from, const Point& point,
                                    const Space& to) {
  if (!from.Check(point).ok()) return std::nullopt;
  const std::vector<ModuleRate> rates = from.Rates(point);
  Point said(static_cast<std::size_t>(to.size()), kAbsent);
  for (int i = 0; i < to.size(); ++i) {
    if (!to.IsActive(i, said)) continue;
    const Parameter& parameter = to.parameters()[static_cast<std::size_t>(i)];
    const auto& modules = to.modules();
    const auto bound = std::find_if(
        modules.begin(), modules.end(),
        [i](const ModuleBinding& module) { return module.parameter == i; });
    std::optional<double> value;
    if (bound == modules.end()) {
      value = ValueByName(from, point, parameter);
    } else if (const auto rate = TranslatedRateOf(rates, bound->module)) {
      value = ValueOfRate(parameter.domain, *rate);
    }
    if (!value.has_value()) return std::nullopt;
    said[static_cast<std::size_t>(i)] = *value;
  }
  // Tied modules and fixed rates: each must come out as it was.
  for (const ModuleRate& rate : to.Rates(said)) {
    const auto before = TranslatedRateOf(rates, rate.module);
    if (before.has_value() && !SameRate(*before, rate.rate)) {
      return std::nullopt;
    }
  }
  return to.Check(said).ok() ? std::optional(said) : std::nullopt;
}

}  // namespace frostline
