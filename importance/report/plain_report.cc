// SPDX-License-Identifier: Apache-2.0
#include "importance/report/plain_report.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double RestOf(const std::vector<double>& shares) {
  const double rest = 1.0 - std::accumulate(shares.begin(), shares.end(), 0.0);
  // Shares of their own sum leave nothing but rounding.
  return rest > 1e-12 ? rest : 0.0;
}

}  // namespace

Report MakePlainReport(const PlainShares& shares) {
  Report report;
  const std::vector<int> ranks = RankByFalling(shares.shares);
  const std::vector<double> top3 =
      Top3Probabilities(shares.shares, shares.replicates);
  for (std::size_t i = 0; i < shares.shares.size(); ++i) {
    std::vector<double> draws;
    draws.reserve(shares.replicates.size());
    for (const auto& draw : shares.replicates) draws.push_back(draw[i]);
    ParameterImportance one;
    one.parameter = static_cast<int>(i);
    one.main = ShareInterval(shares.shares[i], draws);
    one.total = {kNoNumber, kNoNumber, kNoNumber, kNoNumber, kNoNumber};
    one.direction = kNoNumber;
    one.rank = ranks[i];
    one.top3_probability = top3[i];
    one.distinguishable = one.main.lo95 > shares.chance[i];
    report.parameters.push_back(one);
  }
  std::vector<double> rests;
  rests.reserve(shares.replicates.size());
  for (const auto& draw : shares.replicates) rests.push_back(RestOf(draw));
  report.unexplained = ShareInterval(RestOf(shares.shares), rests);
  report.main_draws = shares.replicates;
  report.out_of_bag_r2 = kNoNumber;
  report.noise_share = kNoNumber;
  return report;
}

std::vector<double> Normalized(std::vector<double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  if (!(sum > 0.0)) return values;
  for (double& value : values) value /= sum;
  return values;
}

std::vector<ReportWarning> WarnOfLeftOut(const std::vector<int>& partial) {
  if (partial.empty()) return {};
  return {{"PARAMETER_LEFT_OUT",
           "Parameters that some trials do not have are left out, as Optuna "
           "leaves them out here; fanova has them.",
           partial}};
}

}  // namespace frostline::importance
