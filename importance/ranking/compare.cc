// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/compare.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

constexpr double kRounding = 1e-12;  // of shares

std::vector<std::size_t> Falling(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  return order;
}

// Against the least of those before it: no other is exceeded by more.
template <typename Value>
bool IsChanged(const std::vector<std::size_t>& order, const Value& value) {
  if (order.empty()) return false;
  double least = value(order.front());
  for (const std::size_t i : order) {
    const double share = value(i);
    const double alike = std::max(kAlikeRatio * share, kAlikeShare);
    if (share - least > alike + kRounding) return true;
    least = std::min(least, share);
  }
  return false;
}

}  // namespace

double KendallTau(const std::vector<double>& a, const std::vector<double>& b) {
  std::int64_t balance = 0, untied_a = 0, untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]);
      const int in_b = (b[i] > b[j]) - (b[i] < b[j]);
      balance += in_a * in_b;
      untied_a += in_a != 0;
      untied_b += in_b != 0;
    }
  }
  if (untied_a == 0 || untied_b == 0) return untied_a == untied_b ? 1.0 : 0.0;
  return static_cast<double>(balance) /
         std::sqrt(static_cast<double>(untied_a) *
                   static_cast<double>(untied_b));
}

bool IsOrderChanged(const std::vector<double>& values,
                    const std::vector<double>& other) {
  return IsChanged(Falling(values), [&](std::size_t i) { return other[i]; });
}

double ChanceOfChange(const std::vector<double>& values,
                      const std::vector<std::vector<double>>& draws,
                      double narrower) {
  if (draws.empty()) return 0.0;
  const std::vector<std::size_t> order = Falling(values);
  std::size_t changed = 0;
  for (const std::vector<double>& draw : draws) {
    changed += IsChanged(order, [&](std::size_t i) {
      return values[i] + narrower * (draw[i] - values[i]);
    });
  }
  return static_cast<double>(changed) / static_cast<double>(draws.size());
}

namespace {

constexpr double kCompareChanceOfAny = 0.05;  // of a shift that is none

struct SharedParameters {
  std::vector<std::string> names;
  std::vector<std::size_t> first;  // indices in either space
  std::vector<std::size_t> second;
};

// The shares of the common parameters in one study, in parts of their sum.
struct StudyShares {
  std::vector<double> values;
  std::vector<std::vector<double>> draws;
};

SharedParameters FindShared(const Space& first, const Space& second,
                            Comparison& comparison) {
  SharedParameters shared;
  for (std::size_t i = 0; i < first.parameters().size(); ++i) {
    const std::string& name = first.parameters()[i].name;
    const std::optional<int> other = second.IndexOf(name);
    if (!other.has_value()) {
      comparison.only_first.push_back(name);
      continue;
    }
    shared.names.push_back(name);
    shared.first.push_back(i);
    shared.second.push_back(static_cast<std::size_t>(*other));
  }
  for (const Parameter& parameter : second.parameters()) {
    if (!first.IndexOf(parameter.name).has_value()) {
      comparison.only_second.push_back(parameter.name);
    }
  }
  return shared;
}

// All 0 stays so: then nothing is known of the parts.
std::vector<double> InParts(const std::vector<double>& shares,
                            const std::vector<std::size_t>& which) {
  std::vector<double> parts;
  parts.reserve(which.size());
  double sum = 0.0;
  for (const std::size_t i : which) {
    parts.push_back(shares[i]);
    sum += shares[i];
  }
  for (double& part : parts) part /= sum > 0.0 ? sum : 1.0;
  return parts;
}

StudyShares ComparedShares(const Report& report,
                           const std::vector<std::size_t>& which) {
  std::vector<double> main;
  main.reserve(report.parameters.size());
  for (const ParameterImportance& one : report.parameters) {
    main.push_back(one.main.value);
  }
  StudyShares shares;
  shares.values = InParts(main, which);
  shares.draws.reserve(report.main_draws.size());
  for (const std::vector<double>& draw : report.main_draws) {
    shares.draws.push_back(InParts(draw, which));
  }
  return shares;
}

std::vector<double> DrawsOf(const StudyShares& shares, std::size_t parameter) {
  std::vector<double> draws;
  draws.reserve(shares.draws.size());
  for (const std::vector<double>& draw : shares.draws) {
    draws.push_back(draw[parameter]);
  }
  return draws;
}

double ShareVarianceOf(const std::vector<double>& values) {
  double mean = 0.0, squares = 0.0;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / n;
}

// Normal and two-sided, divided among the parameters (Bonferroni).
bool IsClearOfChance(double difference, double variance, std::size_t tests) {
  if (!(variance > 0.0)) return false;
  const double z = std::abs(difference) / std::sqrt(variance);
  return std::erfc(z / std::numbers::sqrt2) <
         kCompareChanceOfAny / static_cast<double>(tests);
}

ParameterShift ShiftOf(const StudyShares& first, const StudyShares& second,
                       std::size_t parameter, const std::string& name) {
  const std::vector<double> in_first = DrawsOf(first, parameter);
  const std::vector<double> in_second = DrawsOf(second, parameter);
  ParameterShift shift;
  shift.parameter = name;
  shift.first = IntervalOfDraws(first.values[parameter], in_first);
  shift.second = IntervalOfDraws(second.values[parameter], in_second);
  shift.distinguishable =
      !in_first.empty() && !in_second.empty() &&
      IsClearOfChance(shift.first.value - shift.second.value,
                      ShareVarianceOf(in_first) + ShareVarianceOf(in_second),
                      first.values.size());
  return shift;
}

// Every draw meets one that is not its like: reports of one seed would
// otherwise err together.
Interval AgreementOf(const StudyShares& first, const StudyShares& second) {
  std::vector<double> draws;
  const std::size_t count = std::min(first.draws.size(), second.draws.size());
  draws.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    draws.push_back(
        KendallTau(first.draws[k], second.draws[(k + count / 2) % count]));
  }
  return IntervalOfDraws(KendallTau(first.values, second.values),
                         std::move(draws));
}

}  // namespace

absl::StatusOr<Comparison> CompareReports(const ComparedReport& first,
                                          const ComparedReport& second) {
  Comparison comparison;
  const SharedParameters shared =
      FindShared(first.space, second.space, comparison);
  if (shared.names.size() < 2) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("the studies share ", shared.names.size(),
                     " parameters by name, a ranking needs at least 2"),
        "compare studies that search the same modules");
  }
  const StudyShares in_first = ComparedShares(first.report, shared.first);
  const StudyShares in_second = ComparedShares(second.report, shared.second);
  for (std::size_t i = 0; i < shared.names.size(); ++i) {
    comparison.shifts.push_back(
        ShiftOf(in_first, in_second, i, shared.names[i]));
  }
  comparison.rank_agreement = AgreementOf(in_first, in_second);
  comparison.sentence = DescribeComparison(
      comparison, !in_first.draws.empty() && !in_second.draws.empty());
  return comparison;
}

std::string DescribeComparison(const Comparison& comparison,
                               bool has_intervals) {
  std::vector<std::string> in_first, in_second;
  for (const ParameterShift& shift : comparison.shifts) {
    if (!shift.distinguishable) continue;
    (shift.first.value > shift.second.value ? in_first : in_second)
        .push_back(shift.parameter);
  }
  const Interval& tau = comparison.rank_agreement;
  const std::size_t all = comparison.shifts.size();
  if (!has_intervals) {
    return absl::StrFormat(
        "%d shared parameters, ranked with tau %.2f; without intervals nothing "
        "can be told apart",
        all, tau.value);
  }
  std::string sentence = absl::StrFormat(
      "%d of %d shared parameters cannot be told apart between the studies: "
      "tau %.2f (95 %%: %.2f to %.2f)",
      all - in_first.size() - in_second.size(), all, tau.value, tau.lo95,
      tau.hi95);
  const auto name_those = [&](const std::vector<std::string>& names,
                              const std::string& where) {
    if (names.empty()) return;
    absl::StrAppend(&sentence, "; ", absl::StrJoin(names, ", "),
                    names.size() == 1 ? " matters" : " matter", " more in the ",
                    where);
  };
  name_those(in_first, "first");
  name_those(in_second, "second");
  return sentence;
}

}  // namespace frostline::importance
