// SPDX-License-Identifier: Apache-2.0
#include "study/space.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"

namespace frostline {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Integers up to 2^53 are exact in a double, which is how points hold them.
constexpr std::int64_t kMaxExactInt = std::int64_t{1} << 53;

absl::Status BadRange(const std::string& cause, const std::string& fix,
                      const std::string& field) {
  return MakeError(ErrorId::kRangeInvalid, cause, fix, field);
}

absl::Status CheckRanks(const Levels& levels, const std::string& field) {
  for (std::size_t i = 0; i < levels.rates.size(); ++i) {
    const double rank = levels.rates[i];
    const bool whole =
        rank >= 0.0 && rank <= kMaxRank && rank == std::floor(rank);
    if (whole && (i == 0 || rank > levels.rates[i - 1])) continue;
    return MakeError(
        ErrorId::kLevelsInvalid,
        whole ? absl::StrCat("rank ", rank, " is not above the one before it (",
                             levels.rates[i - 1], ")")
              : absl::StrCat(rank, " is no rank of an adapter"),
        absl::StrCat("list whole numbers up to ", kMaxRank,
                     ", once each, lowest first, none (0) first, e.g. rank: "
                     "[0, 4, 8, 16]"),
        field);
  }
  return absl::OkStatus();
}

absl::Status Check(const Levels& levels, const std::string& field) {
  const auto bad = [&](const std::string& cause, const std::string& fix) {
    return MakeError(ErrorId::kLevelsInvalid, cause, fix, field);
  };
  if (levels.rates.empty()) {
    return levels.are_ranks
               ? bad("the list of ranks is empty",
                     "list at least one, e.g. rank: [0, 4, 8, 16]")
               : bad("the list of levels is empty",
                     "list at least one rate, e.g. levels: [0, 2e-6, 2e-5]");
  }
  if (static_cast<std::int64_t>(levels.rates.size()) > kMaxChoices) {
    return bad(absl::StrCat(levels.rates.size(), " levels are too many"),
               absl::StrCat("list at most ", kMaxChoices, " levels"));
  }
  if (levels.are_ranks) return CheckRanks(levels, field);
  for (std::size_t i = 0; i < levels.rates.size(); ++i) {
    const double rate = levels.rates[i];
    if (!std::isfinite(rate) || rate < 0.0) {
      return bad(absl::StrCat("level ", i, " is ", rate),
                 "a rate is a finite number, 0 (frozen) or more");
    }
    if (i > 0 && rate <= levels.rates[i - 1]) {
      return bad(absl::StrCat("level ", i, " (", rate,
                              ") is not above the one before it (",
                              levels.rates[i - 1], ")"),
                 "list the rates once each, lowest first, frozen (0) first");
    }
  }
  return absl::OkStatus();
}

absl::Status Check(const LogUniform& range, const std::string& field) {
  if (!std::isfinite(range.lo) || !std::isfinite(range.hi) || range.lo <= 0.0) {
    return BadRange(absl::StrCat("log_uniform [", range.lo, ", ", range.hi,
                                 "] is not a range of positive rates"),
                    "give two finite rates above 0; add freeze: true for 0",
                    field);
  }
  if (range.lo >= range.hi) {
    return BadRange(
        absl::StrCat("lo (", range.lo, ") is not below hi (", range.hi, ")"),
        "put the lower rate first, e.g. log_uniform: [1e-7, 1e-4]", field);
  }
  return absl::OkStatus();
}

absl::Status Check(const FloatRange& range, const std::string& field) {
  if (!std::isfinite(range.lo) || !std::isfinite(range.hi) ||
      !(range.lo < range.hi)) {
    return BadRange(
        absl::StrCat("lo (", range.lo, ") is not below hi (", range.hi, ")"),
        "give two finite numbers, the lower first", field);
  }
  if (!std::isfinite(range.hi - range.lo)) {
    return BadRange("the range is wider than a double can hold",
                    "narrow the range", field);
  }
  if (!std::isfinite(range.step) || range.step < 0.0 ||
      range.step > range.hi - range.lo) {
    return BadRange(
        absl::StrCat("step ", range.step, " does not fit the range"),
        "give a step between 0 and hi - lo", field);
  }
  if (range.log && (range.lo <= 0.0 || range.step > 0.0)) {
    return BadRange("a logarithmic range starts above 0 and has no step",
                    "raise lo above 0 and drop step, or drop log", field);
  }
  return absl::OkStatus();
}

absl::Status Check(const IntRange& range, const std::string& field) {
  if (range.lo > range.hi || range.lo < -kMaxExactInt ||
      range.hi > kMaxExactInt) {
    return BadRange(absl::StrCat("[", range.lo, ", ", range.hi,
                                 "] is no range of integers"),
                    "put the lower number first, both within 2^53", field);
  }
  if (range.step < 1) {
    return BadRange(absl::StrCat("step ", range.step, " is below 1"),
                    "give a step of 1 or more", field);
  }
  if (range.log && (range.lo < 1 || range.step != 1)) {
    return BadRange("a logarithmic range of integers starts at 1, step 1",
                    "raise lo to 1 or more and drop step, or drop log", field);
  }
  return absl::OkStatus();
}

absl::Status Check(const Categorical& categorical, const std::string& field) {
  if (categorical.choices.empty()) {
    return BadRange("the list of choices is empty", "list at least one choice",
                    field);
  }
  if (static_cast<std::int64_t>(categorical.choices.size()) > kMaxChoices) {
    return BadRange(
        absl::StrCat(categorical.choices.size(), " choices are too many"),
        absl::StrCat("list at most ", kMaxChoices), field);
  }
  std::set<std::string> seen;
  for (const std::string& choice : categorical.choices) {
    if (!seen.insert(choice).second) {
      return BadRange(absl::StrCat("choice ", choice, " is listed twice"),
                      "list each choice once", field);
    }
  }
  return absl::OkStatus();
}

bool IsIndexBelow(double value, std::size_t size) {
  return value >= 0.0 && value < static_cast<double>(size) &&
         value == std::floor(value);
}

// A value on a step grid may carry the rounding of lo + k * step.
bool IsOnGrid(double value, double lo, double step) {
  const double k = (value - lo) / step;
  return std::abs(k - std::round(k)) <= 1e-9 * std::max(1.0, std::abs(k));
}

struct ContainsValue {
  double value;
  bool operator()(const Levels& d) const {
    return IsIndexBelow(value, d.rates.size());
  }
  bool operator()(const Categorical& d) const {
    return IsIndexBelow(value, d.choices.size());
  }
  bool operator()(const LogUniform& d) const {
    return (d.freeze && value == 0.0) || (value >= d.lo && value <= d.hi);
  }
  bool operator()(const FloatRange& d) const {
    return value >= d.lo && value <= d.hi &&
           (d.step == 0.0 || IsOnGrid(value, d.lo, d.step));
  }
  bool operator()(const IntRange& d) const {
    if (!(value >= static_cast<double>(d.lo)) ||
        !(value <= static_cast<double>(d.hi)) || value != std::floor(value)) {
      return false;
    }
    return (static_cast<std::int64_t>(value) - d.lo) % d.step == 0;
  }
};

// Whole steps between lo and hi; the tolerance keeps 0.1 * 3 from ending at 2.
double CountSteps(double lo, double hi, double step) {
  return std::floor((hi - lo) / step * (1.0 + 1e-12)) + 1.0;
}

std::string FormatNumber(double value) {
  for (const int digits : {6, 15, 17}) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    if (std::stod(text) == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

}  // namespace

absl::Status CheckDomain(const Domain& domain, const std::string& field) {
  return std::visit([&](const auto& kind) { return Check(kind, field); },
                    domain);
}

bool Contains(const Domain& domain, double value) {
  return std::isfinite(value) && std::visit(ContainsValue{value}, domain);
}

double CountValues(const Domain& domain) {
  if (const auto* d = std::get_if<Levels>(&domain)) {
    return static_cast<double>(d->rates.size());
  }
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return static_cast<double>(d->choices.size());
  }
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    const std::int64_t steps = (d->hi - d->lo) / d->step;
    return static_cast<double>(steps + 1);
  }
  if (const auto* d = std::get_if<FloatRange>(&domain)) {
    return d->step > 0.0 ? CountSteps(d->lo, d->hi, d->step) : kInfinite;
  }
  return kInfinite;
}

std::vector<double> ListValues(const Domain& domain) {
  const auto count = static_cast<std::int64_t>(CountValues(domain));
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  double lo = 0.0, step = 1.0;  // indices, for levels and choices
  double hi = std::numeric_limits<double>::infinity();
  if (const auto* d = std::get_if<IntRange>(&domain)) {
    lo = static_cast<double>(d->lo);
    step = static_cast<double>(d->step);
  } else if (const auto* f = std::get_if<FloatRange>(&domain)) {
    lo = f->lo;
    step = f->step;
    hi = f->hi;  // 3 * 0.1 is a little above 0.3
  }
  for (std::int64_t k = 0; k < count; ++k) {
    values.push_back(std::min(hi, lo + static_cast<double>(k) * step));
  }
  return values;
}

bool FreezesByValue(const Domain& domain) {
  if (const auto* d = std::get_if<Levels>(&domain)) {
    return !d->rates.empty() && d->rates.front() == 0.0;
  }
  const auto* d = std::get_if<LogUniform>(&domain);
  return d != nullptr && d->freeze;
}

std::string FormatValue(const Domain& domain, double value) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return d->choices.at(static_cast<std::size_t>(value));
  }
  if (const auto* d = std::get_if<Levels>(&domain)) {
    const double rate = d->rates.at(static_cast<std::size_t>(value));
    if (rate != 0.0) return FormatNumber(rate);
    return d->are_ranks ? "none" : "frozen";
  }
  if (std::holds_alternative<LogUniform>(domain) && value == 0.0) {
    return "frozen";
  }
  return FormatNumber(value);
}

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
  const auto number_of = [&](int parameter) {
    const auto i = static_cast<std::size_t>(parameter);
    return RateOf(parameters_[i].domain, point[i]);
  };
  std::optional<int> parameter = binding.parameter;
  if (binding.adapter.has_value()) {
    if (number_of(binding.adapter->rank_parameter) == 0.0) return 0.0;
    parameter = binding.adapter->rate_parameter;
  }
  if (binding.decay_steps.has_value()) {
    return DecayedRate(*decay_, *binding.decay_steps, parameters_, point);
  }
  return parameter.has_value() ? number_of(*parameter) : binding.fixed_rate;
}

std::optional<int> Space::RankAt(std::size_t module, const Point& point) const {
  const std::optional<AdapterBinding>& adapter = modules_[module].adapter;
  if (!adapter.has_value()) return std::nullopt;
  if (IsFrozen(module, point)) return 0;
  const auto i = static_cast<std::size_t>(adapter->rank_parameter);
  return static_cast<int>(RateOf(parameters_[i].domain, point[i]));
}

std::vector<ModuleRate> Space::Rates(const Point& point) const {
  std::vector<ModuleRate> rates;
  rates.reserve(modules_.size());
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    rates.push_back({modules_[m].module, RateAt(m, point), RankAt(m, point)});
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

namespace {

// Rates come from text, so the same rate may differ in its last digits.
bool SameRate(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(a, b);
}

const ModuleRate* TranslatedRateOf(const std::vector<ModuleRate>& rates,
                                   const std::string& module) {
  for (const ModuleRate& rate : rates) {
    if (rate.module == module) return &rate;
  }
  return nullptr;
}

// A frozen module is the same, whatever would train of it.
bool SameRateAndRank(const ModuleRate& a, const ModuleRate& b) {
  if (a.rate == 0.0 && b.rate == 0.0) return true;
  return SameRate(a.rate, b.rate) && a.rank == b.rank;
}

// The number of a module that a parameter gives: its rate, or its rank.
std::optional<double> NumberGiven(int parameter, const ModuleBinding& binding,
                                  const ModuleRate& rate) {
  const bool is_rank = binding.adapter.has_value() &&
                       binding.adapter->rank_parameter == parameter;
  if (!is_rank) return rate.rate;
  if (rate.rate == 0.0) return 0.0;
  return rate.rank.has_value() ? std::optional<double>(*rate.rank)
                               : std::nullopt;
}

bool TakesFrom(const ModuleBinding& binding, int parameter) {
  return binding.parameter == parameter ||
         (binding.adapter.has_value() &&
          (binding.adapter->rank_parameter == parameter ||
           binding.adapter->rate_parameter == parameter));
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
    std::optional<double> number;  // of a module that trains, if one does
    bool is_of_modules = false;
    for (const ModuleBinding& module : to.modules()) {
      if (!TakesFrom(module, i)) continue;
      is_of_modules = true;
      const ModuleRate* const rate = TranslatedRateOf(rates, module.module);
      if (rate == nullptr || number.value_or(0.0) != 0.0) continue;
      number = NumberGiven(i, module, *rate);
    }
    std::optional<double> value;
    if (number.has_value()) value = ValueOfRate(parameter.domain, *number);
    // What all frozen adapters share is known by its name alone.
    if (!is_of_modules || (number == 0.0 && !value.has_value())) {
      value = ValueByName(from, point, parameter);
    }
    if (!value.has_value()) return std::nullopt;
    said[static_cast<std::size_t>(i)] = *value;
  }
  // Tied modules and fixed rates: each must come out as it was.
  for (const ModuleRate& rate : to.Rates(said)) {
    const auto* before = TranslatedRateOf(rates, rate.module);
    if (before != nullptr && !SameRateAndRank(*before, rate)) {
      return std::nullopt;
    }
  }
  return to.Check(said).ok() ? std::optional(said) : std::nullopt;
}

}  // namespace frostline
