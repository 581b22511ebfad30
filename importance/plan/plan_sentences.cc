// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_sentences.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace frostline::importance {
namespace {

constexpr double kNothingR2 = 0.05;
constexpr std::size_t kNamed = 3;  // modules that a sentence names

std::string FixedReason(const ModuleBinding& binding) {
  if (binding.decay_steps.has_value()) {
    return "its rate follows base_rate and decay";
  }
  return binding.fixed_rate == 0.0
             ? "the study keeps it frozen"
             : absl::StrFormat("the study trains it at %g", binding.fixed_rate);
}

// Freezing it is safe enough by itself, and the plan trains it.
bool IsEither(const PlannedModule& planned) {
  return planned.advice == Advice::kNotKnown && !planned.freeze &&
         planned.freeze_probability >= kSureEnough;
}

// Returns how much of the variance of trials the other trials predict.
double LeftOutR2(const PlanBasis& basis) {
  const std::vector<surrogate::Belief>& left = basis.left_out();
  const StudyBelief& belief = basis.belief();
  const std::vector<double>& seen = belief.rows().rows.values;
  const std::size_t count = belief.learnt();
  double mean = 0.0;
  for (std::size_t row = 0; row < count; ++row) {
    mean += seen[row] / static_cast<double>(count);
  }
  double off = 0.0;
  double whole = 0.0;
  for (std::size_t row = 0; row < count; ++row) {
    off += (seen[row] - left[row].mean) * (seen[row] - left[row].mean);
    whole += (seen[row] - mean) * (seen[row] - mean);
  }
  return 1.0 - off / whole;
}

std::string SayUnknown(const PlannedModule& planned,
                       const std::string& metric) {
  const Interval& cost = planned.cost_of_freezing;
  const double half = (cost.hi80 - cost.lo80) / 2.0;
  const std::string now = planned.freeze
                              ? std::string("frozen")
                              : absl::StrFormat("trained at %g", planned.rate);
  if (IsEither(planned)) {
    return absl::StrCat("by itself it could be frozen, too; ", now,
                        " as the plan stands");
  }
  return absl::StrCat("not known: freezing it costs between ",
                      RoundTogether(cost.lo80, half).value, " and ",
                      RoundTogether(cost.hi80, half).value, " of ", metric,
                      "; ", now, " as the plan stands");
}

}  // namespace

std::string SayChance(double probability) {
  const double percent = std::nearbyint(100.0 * probability);
  return absl::StrFormat("%.2f", std::clamp(percent, 1.0, 99.0) / 100.0);
}

RoundedPair RoundTogether(double value, double error) {
  const double size = std::max(std::abs(error), 1e-300);
  const int places =
      std::clamp(1 - static_cast<int>(std::floor(std::log10(size))), 0, 12);
  // What rounds to nothing has no sign.
  const bool is_nothing = std::abs(value) < 0.5 * std::pow(10.0, -places);
  return {absl::StrFormat("%.*f", places, is_nothing ? 0.0 : value),
          absl::StrFormat("%.*f", places, error)};
}

std::string SayInterval(const Interval& interval) {
  const double half = (interval.hi80 - interval.lo80) / 2.0;
  return absl::StrCat(RoundTogether(interval.value, half).value, " (",
                      RoundTogether(interval.lo80, half).value, " to ",
                      RoundTogether(interval.hi80, half).value, ")");
}

std::string SayModules(const std::vector<std::string>& modules) {
  if (modules.size() <= kNamed + 1) return absl::StrJoin(modules, ", ");
  return absl::StrCat(
      absl::StrJoin(modules.begin(), modules.begin() + kNamed, ", "), " and ",
      modules.size() - kNamed, " more");
}

std::string ReasonFor(const ModuleBinding& binding,
                      const PlannedModule& planned, const std::string& metric,
                      double tolerance) {
  const Interval& cost = planned.cost_of_freezing;
  if (std::isnan(cost.value)) {
    if (!binding.parameter.has_value()) return FixedReason(binding);
    if (planned.advice == Advice::kNotKnown) {
      return "not known: of very many parameters its own is left out";
    }
    return planned.freeze ? "the space has no rate for it but frozen"
                          : "the space has no level that freezes it: trained "
                            "at its best rate";
  }
  const double half = (cost.hi80 - cost.lo80) / 2.0;
  const std::string sure = SayChance(planned.freeze_probability);
  if (planned.advice == Advice::kFreeze && cost.value <= 0.0) {
    return absl::StrCat("frozen is better, with probability ", sure,
                        ": training it costs ",
                        RoundTogether(-cost.value, half).value, " of ", metric);
  }
  if (planned.advice == Advice::kFreeze) {
    return absl::StrCat("freezing it costs ",
                        RoundTogether(cost.value, half).value, " of ", metric,
                        ", with probability ", sure, " at most the tolerated ",
                        absl::StrFormat("%g", tolerance));
  }
  if (planned.advice == Advice::kTrain) {
    return absl::StrCat("training it at ", absl::StrFormat("%g", planned.rate),
                        " is worth ", RoundTogether(cost.value, half).value,
                        " of ", metric, " (",
                        RoundTogether(cost.lo80, half).value, " to ",
                        RoundTogether(cost.hi80, half).value, ")");
  }
  return SayUnknown(planned, metric);
}

std::string PlanVerdict(const StudyBelief& belief, const StudyPlan& plan,
                        bool copies) {
  std::vector<std::string> freeze, train, either;
  std::size_t open = 0;
  for (const PlannedModule& one : plan.modules) {
    if (one.advice == Advice::kFreeze) freeze.push_back(one.module);
    if (one.advice == Advice::kTrain) train.push_back(one.module);
    if (IsEither(one)) either.push_back(one.module);
    open += one.advice == Advice::kNotKnown && !IsEither(one) ? 1 : 0;
  }
  std::vector<std::string> parts;
  if (!freeze.empty()) parts.push_back("freeze " + SayModules(freeze));
  if (!train.empty()) parts.push_back("train " + SayModules(train));
  if (!either.empty()) {
    parts.push_back(either.size() == 1
                        ? absl::StrCat(either[0], " could be frozen, too")
                        : absl::StrCat("one more of ", SayModules(either),
                                       " could be frozen"));
  }
  if (open > 0) {
    parts.push_back(absl::StrCat("what ", open, parts.empty() ? "" : " other",
                                 open == 1 ? " module does" : " modules do",
                                 " is not known"));
  }
  const std::string& metric = belief.objective().metric;
  return absl::StrCat(
      belief.trials(), " trials: ", absl::StrJoin(parts, ", "), "; ",
      copies ? absl::StrCat("no point is surely as good as trial ",
                            plan.best_seen_trial, ", which is the plan and")
             : absl::StrCat("the plan, with probability ",
                            SayChance(plan.at_least_best_probability),
                            " as good as trial ", plan.best_seen_trial, ","),
      " should reach ", metric, " ", SayInterval(plan.predicted_score));
}

std::vector<ReportWarning> PlanWarnings(const PlanBasis& basis,
                                        const StudyPlan& plan, bool copies) {
  std::vector<ReportWarning> warnings = basis.belief().warnings();
  const double r2 = LeftOutR2(basis);
  if (!(r2 >= kNothingR2)) {
    warnings.push_back({"NOTHING_EXPLAINED",
                        "trials do not predict each other: no effect of any "
                        "level can be told from noise",
                        {}});
  } else if (r2 < kSolidR2) {
    warnings.push_back({"LITTLE_EXPLAINED",
                        absl::StrFormat("trials predict only R2 = %.2f of "
                                        "each other: verify the plan before "
                                        "relying on it",
                                        r2),
                        {}});
  }
  if (copies) {
    warnings.push_back(
        {"PLAN_NOT_BETTER",
         absl::StrCat("no point is expected to be better than trial ",
                      plan.best_seen_trial,
                      " with probability 0.9: the plan "
                      "is that trial again"),
         {}});
  }
  return warnings;
}

}  // namespace frostline::importance
