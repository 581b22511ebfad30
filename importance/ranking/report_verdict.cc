// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/report_verdict.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kMostLeaders = 3;

// What the parameters are called together.
std::string NounFor(const Space& space) {
  std::set<int> of_modules;
  for (const ModuleBinding& binding : space.modules()) {
    if (binding.parameter.has_value()) of_modules.insert(*binding.parameter);
  }
  return of_modules.size() == space.parameters().size() ? "modules"
                                                        : "parameters";
}

std::set<std::size_t> Leaders(const std::vector<double>& shares,
                              std::size_t count) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&shares](std::size_t a, std::size_t b) {
                     return shares[a] > shares[b];
                   });
  return {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)};
}

// How often the first so many of the report are the first so many of a draw.
double VerdictChanceOf(const std::set<std::size_t>& leaders,
                       const Report& report) {
  double same = 0.0;
  for (const std::vector<double>& draw : report.main_draws) {
    same += Leaders(draw, leaders.size()) == leaders;
  }
  return same / static_cast<double>(report.main_draws.size());
}

// The fewest that are surely ahead of all others; empty: none are.
std::vector<int> SureLeaders(const Report& report) {
  std::vector<double> shares;
  for (const ParameterImportance& one : report.parameters) {
    shares.push_back(one.main.value);
  }
  if (report.main_draws.empty()) return {};
  for (std::size_t k = 1; k <= kMostLeaders && k < shares.size(); ++k) {
    const std::set<std::size_t> leaders = Leaders(shares, k);
    const bool told = std::all_of(
        leaders.begin(), leaders.end(),
        [&](std::size_t i) { return report.parameters[i].distinguishable; });
    if (!told) return {};
    if (VerdictChanceOf(leaders, report) < kSureOfOrder) continue;
    std::vector<int> named(leaders.begin(), leaders.end());
    std::sort(named.begin(), named.end(), [&report](int a, int b) {
      const auto rank = [&report](int i) {
        return report.parameters[static_cast<std::size_t>(i)].rank;
      };
      return rank(a) < rank(b);
    });
    return named;
  }
  return {};
}

std::string Names(const Space& space, const Report& report,
                  const std::vector<int>& leaders) {
  std::vector<std::string> names;
  for (const int i : leaders) {
    const auto at = static_cast<std::size_t>(
        report.parameters[static_cast<std::size_t>(i)].parameter);
    names.push_back(space.parameters()[at].name);
  }
  if (names.size() == 1) return names[0];
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", last);
}

}  // namespace

std::string ReportVerdict(const Space& space, const Report& report,
                          const StabilityVerdict* stability) {
  const std::string trials = absl::StrCat(report.trials_used, " trials");
  const std::string noun = NounFor(space);
  const auto told = std::count_if(
      report.parameters.begin(), report.parameters.end(),
      [](const ParameterImportance& one) { return one.distinguishable; });
  if (report.parameters.size() < 2) {
    return told > 0 ? "the one parameter matters"
                    : absl::StrCat(trials, " cannot tell it from chance");
  }
  if (report.main_draws.empty()) {
    return absl::StrCat("how sure the ranking of ", trials,
                        " is has not been computed");
  }
  if (told == 0) {
    return absl::StrCat(trials, " cannot rank the ", noun,
                        ": none can be told from chance");
  }
  const std::vector<int> leaders = SureLeaders(report);
  if (leaders.empty()) {
    return absl::StrCat(
        trials, " cannot rank the ", noun, ": ",
        told == 1 ? absl::StrCat("one can be told from chance, and whether it "
                                 "is first is open")
                  : absl::StrCat(told, " of ", report.parameters.size(),
                                 " can be told from chance, and which is first "
                                 "is open"));
  }
  const bool settled =
      stability != nullptr && stability->state == StabilityState::kSettled;
  return absl::StrCat(Names(space, report, leaders),
                      leaders.size() == 1 ? " matters most" : " matter most",
                      settled ? ", and the ranking has settled"
                              : ", the order of the others is open");
}

}  // namespace frostline::importance
