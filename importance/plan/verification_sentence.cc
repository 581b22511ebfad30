// SPDX-License-Identifier: Apache-2.0
//
// What became of a plan, in one sentence.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "importance/plan/verification.h"
#include "statistics/compare.h"

namespace frostline::importance {
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
