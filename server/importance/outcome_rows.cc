// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/rng.h"
#include "server/importance/contenders.h"
#include "server/wire/example_outcomes.h"

namespace frostline::server {
namespace {

using statistics::Outcomes;

// How far what is computed of the rows may be from the metric, relative to a
// metric above 1: of counts, of numbers as float32, of marks as float16.
constexpr double kNearCounts = 1e-6;
constexpr double kNearNumbers = 1e-4;
constexpr double kNearHalves = 1e-3;
constexpr int kLookedAt = 4;

}  // namespace

std::shared_ptr<const statistics::RunScore> ScoreOf(const Outcomes& outcomes,
                                                    const std::string& metric,
                                                    double value) {
  const auto near = [value](const statistics::RunScore* score, double within) {
    // False for NaN.
    return score != nullptr && std::abs(score->At({}) - value) <=
                                   within * std::max(1.0, std::abs(value));
  };
  const bool numbers = !outcomes.true_value.empty();
  auto score = statistics::MakeRunScore(metric, outcomes);
  if (near(score.get(), numbers ? kNearNumbers : kNearCounts)) return score;
  if (!statistics::MayBeAMean(metric)) return nullptr;
  score = statistics::MakeRunScore("", outcomes);
  const bool bits = outcomes.right_or_wrong;
  return near(score.get(), bits ? kNearCounts : kNearHalves) ? score : nullptr;
}

std::shared_ptr<const statistics::RunScore> ScoreOf(
    const storage::OutcomeRow& row, const std::string& metric, double value) {
  const auto outcomes = OutcomesOfSet(row, "", "");
  return outcomes.has_value() ? ScoreOf(ReadOutcomes(*outcomes), metric, value)
                              : nullptr;
}

std::uint64_t ChanceOf(const std::string& fingerprint,
                       const std::string& metric) {
  return Fnv1a(absl::StrCat(fingerprint, "\n", metric));
}

absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history) {
  int looked_at = 0;
  const std::vector<Observation>& trials = history.trials();
  for (auto trial = trials.rbegin(); trial != trials.rend(); ++trial) {
    if (trial->values.empty()) continue;
    if (++looked_at > kLookedAt) break;
    ASSIGN_OR_RETURN(const std::optional<storage::OutcomeRow> outcome,
                     store.FindOutcome(study, trial->number));
    if (!outcome.has_value()) continue;
    const auto score = ScoreOf(*outcome, "", trial->values[0]);
    return score == nullptr ? 0 : static_cast<std::int64_t>(score->units());
  }
  return 0;
}

}  // namespace frostline::server
