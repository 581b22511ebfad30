// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/rate_correlation.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/report/trial_scores.h"
#include "cli/term/csv.h"
#include "statistics/scores/correlation.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kFewestTrials = 5;  // an interval needs more than three
constexpr double kSpreadOfZ = 1.959963984540054 * 1.06;

struct Pairs {
  std::vector<double> rates;
  std::vector<double> scores;
};

void Bound(RateCorrelation& one) {
  const double width =
      kSpreadOfZ / std::sqrt(static_cast<double>(one.trials) - 3.0);
  // atanh of exactly 1 is infinite, and so is its interval's near end.
  const double r = std::clamp(one.correlation, -1.0 + 1e-12, 1.0 - 1e-12);
  one.lo95 = std::tanh(std::atanh(r) - width);
  one.hi95 = std::tanh(std::atanh(r) + width);
}

}  // namespace

std::vector<RateCorrelation> CorrelateRates(const StudyRecord& record) {
  std::vector<std::string> order;
  std::map<std::string, Pairs> all;
  for (const v1::Trial* trial : ByScore(record)) {
    for (const v1::ModuleRate& rate : trial->rates()) {
      const auto [found, is_new] = all.try_emplace(rate.module());
      if (is_new) order.push_back(rate.module());
      found->second.rates.push_back(rate.rate());
      found->second.scores.push_back(trial->values(0));
    }
  }
  std::vector<RateCorrelation> correlations;
  for (const std::string& module : order) {
    const Pairs& pairs = all.at(module);
    if (pairs.rates.size() < kFewestTrials) continue;
    const auto r = statistics::Spearman(pairs.rates, pairs.scores);
    if (!r) continue;  // one rate in all trials, or one score
    RateCorrelation& one = correlations.emplace_back();
    one.module = module;
    one.correlation = *r;
    one.trials = pairs.rates.size();
    Bound(one);
  }
  return correlations;
}

ReportTable CorrelationTable(const std::vector<RateCorrelation>& all,
                             const std::string& name) {
  ReportTable table = {
      name, {"module", "rate and score", "95 %", "trials"}, {}, ""};
  table.csv = CsvLine({"module", "spearman", "lo95", "hi95", "trials"});
  for (const RateCorrelation& one : all) {
    table.rows.push_back({one.module, absl::StrFormat("%.2f", one.correlation),
                          absl::StrFormat("%.2f … %.2f", one.lo95, one.hi95),
                          absl::StrCat(one.trials)});
    table.csv +=
        CsvLine({one.module, CsvNumber(one.correlation), CsvNumber(one.lo95),
                 CsvNumber(one.hi95), absl::StrCat(one.trials)});
  }
  return table;
}

}  // namespace frostline::cli
