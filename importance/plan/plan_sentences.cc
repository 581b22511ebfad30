// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_sentences.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "study/objective.h"

namespace frostline {
namespace {

// Two digits of the error, and as many places of the number.
struct Rounded {
  std::string value;
  std::string error;
};

Rounded RoundTogether(double value, double error) {
  const double size = std::max(std::abs(error), 1e-300);
  const int places =
      std::clamp(1 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
  // What rounds to nothing has no sign.
  const bool is_nothing = std::abs(value) < 0.5 * std::pow(10.0, -places);
  return {absl::StrFormat("%.*f", places, is_nothing ? 0.0 : value),
          absl::StrFormat("%.*f", places, error)};
}

std::string FixedReason(const ModuleBinding& binding) {
  return binding.fixed_rate == 0.0
             ? "the study keeps it frozen"
             : absl::StrFormat("the study trains it at %g", binding.fixed_rate);
}

}  // namespace

std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric) {
  const Interval& cost = planned.cost_of_freezing;
  if (std::isnan(cost.value)) {
    if (!binding.parameter.has_value()) return FixedReason(binding);
    return planned.freeze ? "the space has no rate for it but frozen"
                          : "the space has no level that freezes it: trained "
                            "at its best rate";
  }
  const double half = (cost.hi95 - cost.lo95) / 2.0;
  const Rounded round = RoundTogether(cost.value, half);
  if (planned.freeze) {
    if (cost.hi95 <= 0.0) {
      return absl::StrCat("frozen is better: training it costs ",
                          RoundTogether(-cost.value, half).value, " of ",
                          metric);
    }
    if (cost.lo95 <= 0.0) {
      return absl::StrCat("no trial can tell it from frozen: freezing costs ",
                          round.value, " \u00b1 ", round.error, " of ", metric);
    }
    return absl::StrCat("freezing costs ", round.value, " \u00b1 ", round.error,
                        " of ", metric, ", which is tolerated");
  }
  const std::string rate = absl::StrFormat("%g", planned.rate);
  if (cost.lo95 > 0.0) {
    return absl::StrCat("training it at ", rate, " is worth ", round.value,
                        " of ", metric, " (",
                        RoundTogether(cost.lo95, half).value, " to ",
                        RoundTogether(cost.hi95, half).value, ")");
  }
  return absl::StrCat("trained at ", rate, ": freezing may cost ",
                      RoundTogether(cost.hi95, half).value, " of ", metric,
                      ", and the trials cannot rule it out");
}

std::string ReasonToCopy(std::int64_t trial) {
  return absl::StrCat("as in trial ", trial,
                      ", the best: the trials do not tell what it does");
}

std::vector<ReportWarning> PlanWarnings(const FittedLevels& fitted,
                                        const StudyPlan& plan, double r2,
                                        bool copies) {
  std::vector<ReportWarning> warnings = fitted.warnings();
  if (copies) {
    warnings.push_back({"NOTHING_EXPLAINED",
                        absl::StrCat("no effect of any level can be told from "
                                     "noise: the plan is trial ",
                                     plan.best_seen_trial,
                                     " again, and promises no more than the "
                                     "average trial"),
                        {}});
    return warnings;
  }
  if (!(r2 >= kSolidR2)) {
    warnings.push_back({"LITTLE_EXPLAINED",
                        absl::StrFormat("level effects explain only R2 = %.2f "
                                        "of trials not seen: verify the plan "
                                        "before relying on it",
                                        r2),
                        {}});
  }
  const double gain = AsLoss(fitted.objective(), plan.best_seen_score.value) -
                      AsLoss(fitted.objective(), plan.predicted_score.value);
  if (!(gain > 0.0)) {
    warnings.push_back(
        {"PLAN_NOT_BETTER",
         absl::StrCat("the plan is not expected to be better "
                      "than trial ",
                      plan.best_seen_trial, ", the best trial seen"),
         {}});
  }
  return warnings;
}

}  // namespace frostline
