// SPDX-License-Identifier: Apache-2.0
#include "importance/ranking/stability.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "importance/measure/numbers.h"
#include "importance/measure/selection.h"
#include "importance/ranking/beginnings.h"
#include "importance/ranking/part_counts.h"
#include "importance/ranking/rank_agreement.h"
#include "importance/ranking/stability_verdict.h"
#include "study/space.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kLeastHalvings = 4;

// Where one more halving would lie.
Interval HalfTau(const std::vector<Halving>& halvings) {
  if (halvings.size() < kLeastHalvings) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan, nan, nan};
  }
  const auto n = static_cast<double>(halvings.size());
  double sum = 0.0, squares = 0.0;
  for (const Halving& halving : halvings) {
    const double tau = KendallTau(halving.first, halving.second);
    sum += tau;
    squares += tau * tau;
  }
  const double mean = sum / n;
  const double variance =
      std::max(squares - sum * mean, 0.0) / (n - 1.0) * (1.0 + 1.0 / n);
  const auto end = [&](double z) {
    return std::clamp(mean + StudentQuantile(z, n - 1.0) * std::sqrt(variance),
                      -1.0, 1.0);
  };
  return {mean, end(-1.2816), end(1.2816), end(-1.96), end(1.96)};
}

// Free values of the main effects; a range counts as a few levels would.
std::int64_t CountEffects(const Space& space) {
  constexpr double kOfRange = 6.0;
  double effects = 0.0;
  for (const Parameter& parameter : space.parameters()) {
    effects += std::min(CountValues(parameter.domain) - 1.0, kOfRange);
  }
  return static_cast<std::int64_t>(effects);
}

// Trials; 0 when there is nothing to compare with.
std::int64_t UnchangedSince(const std::vector<StabilityPoint>& points) {
  if (points.size() < 2) return 0;
  const std::vector<double> final = MainShares(points.back().parameters);
  std::size_t since = points.size() - 1;
  while (since > 0 &&
         !IsOrderChanged(final, MainShares(points[since - 1].parameters))) {
    --since;
  }
  return points[since].trials;
}

Stability TooFew(std::size_t trials, std::vector<StabilityPoint> points) {
  constexpr std::size_t kLeast = 2 * kMinTrials;
  Stability stability;
  stability.points = std::move(points);
  StabilityVerdict& verdict = stability.verdict;
  verdict.half_tau = HalfTau({});
  verdict.sentence = absl::StrCat("too few trials: ", trials, " can be used");
  if (trials < kLeast) {
    verdict.more_trials = static_cast<std::int64_t>(kLeast - trials);
    absl::StrAppend(&verdict.sentence, ", at least ", kLeast, " are needed");
  }
  return stability;
}

}  // namespace

absl::StatusOr<Stability> EvaluateStability(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int points) {
  if (points < 0 || points > kMaxStabilityPoints) {
    return MakeError(
        ErrorId::kRequestInvalid, absl::StrCat("points is ", points),
        absl::StrCat("give a number from 1 to ", kMaxStabilityPoints,
                     ", or 0 for ", kUsualParts.points),
        "points");
  }
  ASSIGN_OR_RETURN(const Selection usable,
                   FindUsableTrials(space, objectives, history, options));
  EvaluateOptions without_pairs = options;
  without_pairs.pairs = false;
  without_pairs.subsets.clear();
  absl::StatusOr<Report> report =
      Evaluate(space, objectives, history, without_pairs);
  if (HasErrorId(report.status(), ErrorId::kTrialsTooFew)) {
    return TooFew(usable.trials.size(), {});
  }
  RETURN_IF_ERROR(report.status());
  PartCounts wanted = kUsualParts;
  if (points > 0) wanted.points = points;
  wanted.trees = options.trees;
  const StudyParts parts{
      space, objectives, usable.trials, without_pairs,
      BoundParts(usable.trials.size(), space.parameters().size(), wanted)};
  Stability stability;
  ASSIGN_OR_RETURN(stability.points, EvaluateBeginnings(parts));
  RankingEvidence evidence;
  evidence.trials = static_cast<std::int64_t>(usable.trials.size());
  evidence.values = MainShares(report->parameters);
  for (const ParameterImportance& one : report->parameters) {
    evidence.any_distinguishable |= one.distinguishable;
  }
  stability.points.push_back({evidence.trials, std::move(report->parameters)});
  for (StabilityPoint& point : stability.points) {
    point.tau_to_final =
        KendallTau(MainShares(point.parameters), evidence.values);
  }
  ASSIGN_OR_RETURN(const std::vector<Halving> halvings,
                   EvaluateHalvings(parts));
  if (halvings.size() < kLeastHalvings) {
    return TooFew(usable.trials.size(), std::move(stability.points));
  }
  evidence.draws = std::move(report->main_draws);
  evidence.half_draws = HalfSampleDraws(evidence.values, halvings);
  evidence.effects = CountEffects(space);
  evidence.unchanged_since = UnchangedSince(stability.points);
  stability.verdict = JudgeRanking(evidence);
  stability.verdict.half_tau = HalfTau(halvings);
  return stability;
}

}  // namespace frostline::importance
