// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/stability_verdict.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "importance/ranking/rank_agreement.h"

namespace frostline::importance {
namespace {

constexpr double kChanceOfDraws = 0.05;
// Two of 20: one halving that disagrees is no reason to go on.
constexpr double kChanceOfHalves = 0.1;
constexpr double kQuiet = 0.2;       // last part of the study without a change
constexpr double kFarthest = 100.0;  // times the trials there are
constexpr int kBisections = 30;
constexpr double kLeastFree = 0.1;  // of the trials, once effects are paid for

bool IsLikely(const RankingEvidence& evidence, double narrower) {
  return ChanceOfChange(evidence.values, evidence.draws, narrower) <=
             kChanceOfDraws &&
         ChanceOfChange(evidence.values, evidence.half_draws, narrower) <=
             kChanceOfHalves;
}

// To two digits, and not to less than 10: more would be made up.
std::int64_t RoundUp(double trials) {
  double unit = 10.0;
  while (trials / unit > 100.0) unit *= 10.0;
  return static_cast<std::int64_t>(std::ceil(trials / unit) * unit);
}

// 0: more than anybody should foretell.
std::int64_t MoreTrials(const RankingEvidence& evidence) {
  double narrow = 1.0 / std::sqrt(kFarthest), wide = 1.0;
  if (!IsLikely(evidence, narrow)) return 0;
  if (IsLikely(evidence, wide)) narrow = wide;
  for (int i = 0; i < kBisections && narrow < wide; ++i) {
    const double middle = (narrow + wide) / 2.0;
    (IsLikely(evidence, middle) ? narrow : wide) = middle;
  }
  const auto n = static_cast<double>(evidence.trials);
  // Of least squares on e effects the variance goes with 1 / (n - e).
  const double free =
      std::max(n - 2.0 * static_cast<double>(evidence.effects), kLeastFree * n);
  const double for_quiet =
      static_cast<double>(evidence.unchanged_since) / (1.0 - kQuiet) - n;
  return RoundUp(std::max({free / (narrow * narrow) - free, for_quiet, 1.0}));
}

}  // namespace

StabilityVerdict JudgeRanking(const RankingEvidence& evidence) {
  StabilityVerdict verdict;
  const std::string seen = absl::StrCat(evidence.trials, " trials");
  verdict.state = StabilityState::kNotSettled;
  if (!evidence.any_distinguishable) {
    verdict.sentence = absl::StrCat("not settled: after ", seen,
                                    " no parameter can be told from chance");
    return verdict;
  }
  const bool is_quiet = static_cast<double>(evidence.unchanged_since) <=
                        (1.0 - kQuiet) * static_cast<double>(evidence.trials);
  if (is_quiet && IsLikely(evidence, 1.0)) {
    verdict.state = StabilityState::kSettled;
    verdict.settled_after = evidence.unchanged_since > 0
                                ? evidence.unchanged_since
                                : evidence.trials;
    verdict.sentence = absl::StrCat("ranking settled after ",
                                    verdict.settled_after, " trials");
    return verdict;
  }
  verdict.more_trials = MoreTrials(evidence);
  verdict.sentence =
      verdict.more_trials > 0
          ? absl::StrCat("not settled: about ", verdict.more_trials,
                         " more trials")
          : absl::StrCat("not settled: far more than ", seen, " are needed");
  return verdict;
}

}  // namespace frostline::importance
