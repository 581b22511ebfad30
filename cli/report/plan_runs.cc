// SPDX-License-Identifier: Apache-2.0
#include "cli/report/plan_runs.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/report/points.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// Their numbers; none where something else was run in the plan's place.
std::vector<std::string> NumbersOfRuns(
    const v1::PlanVerification& verification) {
  std::vector<std::string> numbers;
  if (verification.rivals().empty()) return numbers;
  const v1::VerifiedRival& first = verification.rivals(0);
  if (first.name() != "plan") return numbers;
  for (const v1::VerifiedRun& run : first.runs()) {
    numbers.push_back(LastPart(run.trial()));
  }
  return numbers;
}

const v1::Trial* FindTrial(const StudyRecord& record,
                           const std::string& number) {
  for (const v1::Trial& trial : record.trials.trials()) {
    if (absl::StrCat(trial.number()) == number) return &trial;
  }
  return nullptr;
}

// The first of its point: of the trials that go by their numbers.
const v1::Trial& FirstAtPointOf(const StudyRecord& record,
                                const v1::Trial& run) {
  const auto& trials = record.trials.trials();
  const std::string point = PointKeyOf(run);
  const auto found = std::find_if(
      trials.begin(), trials.end(),
      [&point](const v1::Trial& trial) { return PointKeyOf(trial) == point; });
  return found == trials.end() ? run : *found;
}

}  // namespace

std::string EarlierPlanWords(const StudyRecord& record) {
  if (!record.plan || !record.verification) return "";
  const auto runs = NumbersOfRuns(*record.verification);
  const v1::Trial* const run =
      runs.empty() ? nullptr : FindTrial(record, runs[0]);
  if (run == nullptr ||
      PointKeyOf(record.plan->as_trial()) == PointKeyOf(*run)) {
    return "";
  }
  const v1::Trial& first = FirstAtPointOf(record, *run);
  const bool is_new = first.number() == run->number();
  return absl::StrCat(
      "the plan as it was, ",
      !is_new ? absl::StrCat("the point of trial ", first.number())
      : runs.size() > 1
          ? absl::StrCat("run as trials ", absl::StrJoin(runs, ", "))
          : absl::StrCat("run as trial ", runs[0]));
}

}  // namespace frostline::cli
