// SPDX-License-Identifier: Apache-2.0
#include "cli/report/trial_scores.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/report/points.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {

const v1::Objective& FirstObjective(const StudyRecord& record) {
  static const v1::Objective kNone;
  const v1::StudySpec& spec = record.study.spec();
  return spec.objectives().empty() ? kNone : spec.objectives(0);
}

bool IsBetter(const v1::Objective& objective, double a, double b) {
  return objective.direction() == v1::DIRECTION_MINIMIZE ? a < b : a > b;
}

std::vector<const v1::Trial*> ByScore(const StudyRecord& record) {
  std::vector<const v1::Trial*> trials;
  for (const v1::Trial& trial : record.trials.trials()) {
    if (trial.state() == v1::TRIAL_STATE_SUCCEEDED && !trial.values().empty()) {
      trials.push_back(&trial);
    }
  }
  const v1::Objective& objective = FirstObjective(record);
  std::stable_sort(trials.begin(), trials.end(),
                   [&objective](const v1::Trial* a, const v1::Trial* b) {
                     return IsBetter(objective, a->values(0), b->values(0));
                   });
  return trials;
}

std::string BestTrialSentence(const StudyRecord& record) {
  const auto trials = ByScore(record);
  if (trials.empty()) return "";
  const v1::Trial& best = *trials[0];
  const std::string point = PointKeyOf(best);
  double sum = 0.0;
  int runs = 0;
  for (const v1::Trial* const trial : trials) {
    if (PointKeyOf(*trial) != point) continue;
    sum += trial->values(0);
    ++runs;
  }
  const std::string seen =
      absl::StrCat("Best trial: ", best.number(), ", ",
                   ObjectiveText(best, record.study.spec()));
  if (runs == 1) return absl::StrCat(seen, ", as it was seen in one run.");
  return absl::StrCat(seen, " in one run; its point was run ", runs,
                      " times, with a mean ", FirstObjective(record).metric(),
                      " of ", FormatNumber(sum / runs), ".");
}

std::vector<const v1::Trial*> FrontBy(
    const std::vector<const v1::Trial*>& trials, const v1::Objective& objective,
    double (*cost)(const v1::Trial&)) {
  std::vector<const v1::Trial*> by_cost = trials;
  std::stable_sort(by_cost.begin(), by_cost.end(),
                   [cost](const v1::Trial* a, const v1::Trial* b) {
                     return cost(*a) < cost(*b);
                   });
  std::vector<const v1::Trial*> front;
  for (const v1::Trial* trial : by_cost) {
    if (!front.empty() && cost(*front.back()) == cost(*trial)) {
      // Of one cost the best alone.
      if (IsBetter(objective, trial->values(0), front.back()->values(0))) {
        front.back() = trial;
      }
    } else if (front.empty() ||
               IsBetter(objective, trial->values(0), front.back()->values(0))) {
      front.push_back(trial);
    }
  }
  return front;
}

double TrainedParametersOf(const v1::Trial& trial) {
  return static_cast<double>(trial.usage().trained_parameters());
}

double SecondsOfTrial(const v1::Trial& trial) {
  return trial.usage().total_seconds();
}

const v1::ModuleRate* RateOf(const v1::Trial& trial,
                             const std::string& module) {
  const auto found = std::find_if(trial.rates().begin(), trial.rates().end(),
                                  [&module](const v1::ModuleRate& rate) {
                                    return rate.module() == module;
                                  });
  return found == trial.rates().end() ? nullptr : &*found;
}

}  // namespace frostline::cli
