// SPDX-License-Identifier: Apache-2.0
#include "study/domain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

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

absl::Status Check(const Levels& levels, const std::string& field) {
  const auto bad = [&](const std::string& cause, const std::string& fix) {
    return MakeError(ErrorId::kLevelsInvalid, cause, fix, field);
  };
  if (levels.rates.empty()) {
    return bad("the list of levels is empty",
               "list at least one rate, e.g. levels: [0, 2e-6, 2e-5]");
  }
  if (static_cast<std::int64_t>(levels.rates.size()) > kMaxChoices) {
    return bad(absl::StrCat(levels.rates.size(), " levels are too many"),
               absl::StrCat("list at most ", kMaxChoices, " levels"));
  }
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

std::string FormatValue(const Domain& domain, double value) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return d->choices.at(static_cast<std::size_t>(value));
  }
  if (const auto* d = std::get_if<Levels>(&domain)) {
    const double rate = d->rates.at(static_cast<std::size_t>(value));
    return rate == 0.0 ? "frozen" : FormatNumber(rate);
  }
  if (std::holds_alternative<LogUniform>(domain) && value == 0.0) {
    return "frozen";
  }
  return FormatNumber(value);
}

}  // namespace frostline
