// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/verification.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "statistics/compare.h"

namespace frostline::importance {
namespace {

using statistics::BySeed;
using statistics::Noise;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Interval Around(double value, const Noise& noise, double runs) {
  const double near = noise.Reach(0.8, runs), far = noise.Reach(0.95, runs);
  return {value, value - near, value + near, value - far, value + far};
}

double MeanOfRuns(const BySeed& runs) {
  std::vector<double> values;
  for (const auto& [seed, run] : runs) values.push_back(run->value);
  return values.empty() ? kNan : statistics::MeanOf(values);
}

std::int64_t RowsOf(const BySeed& runs) {
  for (const auto& [seed, run] : runs) {
    if (run->score == nullptr) continue;
    const auto& sizes = run->score->sizes();
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  }
  return 0;
}

void TakeJudgement(const statistics::PairJudged& pair, const Noise& within,
                   JudgedRival& judged) {
  judged.difference = Around(pair.difference, within.OfDifference(),
                             static_cast<double>(pair.pairs));
  judged.seed_noise = pair.seed_noise;
  judged.row_noise = pair.example_noise;
  judged.exceeds_seeds = std::abs(pair.difference) > pair.seed_noise;
  judged.exceeds_rows = std::abs(pair.difference) > pair.example_noise;
  judged.p = pair.p;
  judged.adjusted_p = pair.adjusted_p;
}

}  // namespace

Verification JudgeRuns(const std::vector<RivalRuns>& rivals,
                       std::uint64_t chance, const std::stop_token& stop) {
  std::vector<statistics::Contender> contenders;
  for (const RivalRuns& rival : rivals) contenders.push_back(rival.seen);
  statistics::Question question;
  question.chance = chance;
  question.stop = stop;
  const statistics::Judged found = statistics::Compare(contenders, question);
  std::vector<BySeed> runs;
  for (const statistics::Contender& contender : contenders) {
    runs.push_back(statistics::WithResult(contender));
  }
  const Noise over_seeds = statistics::OverSeeds(runs);
  Verification verification;
  verification.seed_deviation = found.within.deviation();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    JudgedRival judged;
    judged.difference = {kNan, kNan, kNan, kNan, kNan};
    judged.seed_noise = judged.row_noise = kNan;
    judged.p = judged.adjusted_p = kNan;
    if (r > 0 && r <= found.pairs.size()) {
      TakeJudgement(found.pairs[r - 1], found.within, judged);
    }
    judged.seen = Around(MeanOfRuns(runs[r]), over_seeds,
                         static_cast<double>(runs[r].size()));
    if (verification.rows == 0) verification.rows = RowsOf(runs[r]);
    verification.rivals.push_back(judged);
  }
  return verification;
}

// What became of a plan, in one sentence.

namespace {

std::string Number(double value) { return absl::StrFormat("%.3f", value); }

std::size_t RunsOf(const RivalRuns& rival) {
  std::size_t runs = 0;
  for (const statistics::Run& run : rival.seen.runs) {
    runs += !std::isnan(run.value);
  }
  return runs;
}

// Whether what was predicted of the mean, or of one run where there is one, has
// held: the 80 % interval.
std::string AsPredicted(const RivalRuns& plan, double seen) {
  const bool one = RunsOf(plan) == 1;
  const Interval& said = one ? plan.one_run : plan.predicted;
  if (std::isnan(said.lo80) || std::isnan(said.hi80)) return "";
  const char* const how = seen < said.lo80   ? "lower than predicted"
                          : seen > said.hi80 ? "higher than predicted"
                                             : "as predicted";
  return absl::StrCat(", ", how, " (", Number(said.lo80), " to ",
                      Number(said.hi80), ")");
}

// Above 0: the rival is better than the plan.
double GainOf(const Objective& objective, const JudgedRival& rival) {
  return -AsLoss(objective, rival.difference.value);
}

bool IsBeyondNoise(const JudgedRival& rival) {
  // One run of each says nothing of their points.
  return !std::isnan(rival.seed_noise) && rival.adjusted_p < statistics::kLevel;
}

std::string AgainstRivals(const Objective& objective,
                          const std::vector<RivalRuns>& rivals,
                          const Verification& judged) {
  std::string better, worse;
  for (std::size_t r = 1; r < rivals.size(); ++r) {
    const JudgedRival& rival = judged.rivals[r];
    if (!IsBeyondNoise(rival)) continue;
    const double gain = GainOf(objective, rival);
    std::string& list = gain > 0.0 ? better : worse;
    // "head only" is a name.
    absl::StrAppend(&list, list.empty() ? "\"" : ", \"", rivals[r].seen.name,
                    "\" by ", Number(std::abs(gain)));
  }
  if (!better.empty()) return absl::StrCat("; better than it: ", better);
  if (std::isnan(judged.seed_deviation)) {
    return "; with so few runs the noise of seeds is not known";
  }
  if (worse.empty()) return "; no rival differs from it by more than noise";
  return absl::StrCat("; no rival is better by more than noise, and it beats ",
                      worse);
}

std::string WhatWasRun(const std::vector<RivalRuns>& rivals) {
  const bool is_plan = rivals.empty() || rivals[0].seen.name == "plan";
  return is_plan ? "the plan" : rivals[0].seen.name;
}

}  // namespace

std::string VerificationSentence(const Objective& objective,
                                 const std::vector<RivalRuns>& rivals,
                                 const Verification& judged) {
  if (rivals.empty() || std::isnan(judged.rivals[0].seen.value)) {
    return absl::StrCat("no run of ", WhatWasRun(rivals), " has a result");
  }
  const double seen = judged.rivals[0].seen.value;
  const std::size_t runs = RunsOf(rivals[0]);
  std::string text = absl::StrCat(
      WhatWasRun(rivals), " scored ", Number(seen), " (",
      runs == 1 ? "one run" : absl::StrCat("mean of ", runs, " runs"), ")",
      AsPredicted(rivals[0], seen));
  if (rivals.size() > 1) {
    absl::StrAppend(&text, AgainstRivals(objective, rivals, judged));
  }
  return text;
}

}  // namespace frostline::importance
