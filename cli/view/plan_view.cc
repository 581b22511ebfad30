// SPDX-License-Identifier: Apache-2.0
#include "cli/view/plan_view.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/term/utf8.h"
#include "cli/view/format.h"
#include "cli/view/frontier_view.h"
#include "cli/view/importance_text.h"
#include "cli/view/verification_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

std::string PredictedText(const v1::FreezePlan& plan) {
  std::string text =
      absl::StrCat(WithInterval(plan.predicted_score()), " over seeds");
  if (!std::isnan(plan.one_run().lo80())) {
    absl::StrAppend(&text, "; one run ", NumberInterval(plan.one_run()));
  }
  return text;
}

std::string BestPlanText(const v1::FreezePlan& plan) {
  std::string text =
      absl::StrCat(FormatNumber(plan.best_seen_value()), ", trial ",
                   LastPart(plan.best_seen_trial()), "; its luck taken off ",
                   WithInterval(plan.best_seen_score()));
  const bool is_plan =
      plan.differs_in() == 0 && plan.nearest_trial() == plan.best_seen_trial();
  if (is_plan) {
    absl::StrAppend(&text, "; it is the plan");
  } else if (!std::isnan(plan.at_least_best_probability())) {
    absl::StrAppend(&text, "; the plan is as good with ",
                    Probability(plan.at_least_best_probability()));
  }
  return text;
}

std::string NearestText(const v1::FreezePlan& plan) {
  if (plan.nearest_trial().empty()) return "";
  const std::string trial = "trial " + LastPart(plan.nearest_trial());
  if (plan.differs_in() == 0) return trial + " is the plan";
  return absl::StrCat("the plan differs from ", trial, " in ",
                      plan.differs_in(),
                      plan.differs_in() == 1 ? " module" : " modules");
}

std::string SavingText(const v1::FreezePlan& plan) {
  std::vector<std::string> parts;
  if (plan.trained_parameters_known()) {
    parts.push_back(absl::StrCat(FormatCount(plan.trained_parameters_saved()),
                                 " trained parameters"));
  }
  if (!std::isnan(plan.seconds_saved_share())) {
    parts.push_back(
        absl::StrCat(Percent(plan.seconds_saved_share()), " of the seconds"));
  }
  return absl::StrJoin(parts, ", ");
}

std::string ModulesTable(const v1::FreezePlan& plan, int width) {
  Table table({{"MODULE"},
               {"ADVICE"},
               {"RATE", Align::kRight},
               {"FREEZING SAFE", Align::kRight},
               {"COST OF FREEZING, 80 %"}});
  for (const v1::PlannedModule& module : plan.modules()) {
    table.AddRow({module.module(), AdviceText(module),
                  FormatRate(module.freeze() ? 0.0 : module.rate()),
                  Probability(module.freeze_probability()),
                  WithInterval(module.cost_of_freezing())});
  }
  return table.Render(width);
}

}  // namespace

std::string RenderFreezePlan(const v1::FreezePlan& plan, int width) {
  std::string text = absl::StrCat(
      Caption(absl::StrCat("freeze plan for ", LastPart(plan.study()), ": ",
                           plan.options().target(),
                           plan.tolerance() > 0.0
                               ? absl::StrCat(", may give up ",
                                              FormatNumber(plan.tolerance()))
                               : ""),
              plan.provisional(), width),
      Verdict(plan.verdict(), width), ModulesTable(plan, width), "\n");
  absl::StrAppend(&text, Sentence("predicted", PredictedText(plan), width),
                  Sentence("best seen", BestPlanText(plan), width),
                  Sentence("nearest", NearestText(plan), width),
                  Sentence("saves", SavingText(plan), width));
  std::set<std::string> said;  // no warning twice
  for (const v1::Warning& warning : plan.warnings()) {
    if (!said.insert(warning.sentence()).second) continue;
    absl::StrAppend(&text, Sentence("warning", warning.sentence(), width));
  }
  for (const std::string& command : plan.verify()) {
    absl::StrAppend(&text, Sentence("to verify it", command, width));
  }
  return text;
}

std::string RenderFreezePlanInShort(const v1::FreezePlan& plan, int width) {
  google::protobuf::RepeatedPtrField<v1::ModuleRate> rates;
  for (const v1::PlannedModule& module : plan.modules()) {
    v1::ModuleRate* const rate = rates.Add();
    rate->set_module(module.module());
    rate->set_rate(module.freeze() ? 0.0 : module.rate());
  }
  const bool is_trial = plan.differs_in() == 0 && !plan.nearest_trial().empty();
  std::string score =
      absl::StrCat(FormatNumber(plan.best_seen_value()), ", trial ",
                   LastPart(plan.best_seen_trial()));
  if (!std::isnan(plan.one_run().lo80())) {
    absl::StrAppend(&score,
                    "; one run of the plan: ", NumberInterval(plan.one_run()),
                    " (80 %)");
  }
  return absl::StrCat(
      VerdictLines(plan.verdict(), width),
      Sentence("its rates",
               is_trial ? "those of trial " + LastPart(plan.nearest_trial())
                        : RatesInShort(rates),
               width),
      Sentence("best seen", score, width));
}

std::string RenderComparison(const v1::StudyComparison& comparison, int width) {
  Table table({{"MODULE"},
               {FitToWidth(LastPart(comparison.first()), 16), Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {FitToWidth(LastPart(comparison.second()), 16), Align::kRight},
               {"80 % INTERVAL", Align::kRight},
               {""}});
  for (const auto& shift : comparison.shifts()) {
    table.AddRow({shift.parameter(), Percent(shift.first_share().value()),
                  PercentInterval(shift.first_share()),
                  Percent(shift.second_share().value()),
                  PercentInterval(shift.second_share()),
                  shift.distinguishable() ? "differs" : ""});
  }
  std::string text = absl::StrCat(
      Caption(absl::StrCat("importance for ", comparison.options().target(),
                           " in ", LastPart(comparison.first()), " and ",
                           LastPart(comparison.second()),
                           ", shares among what both search"),
              comparison.provisional(), width),
      table.Render(width), "\n");
  absl::StrAppend(&text, Sentence("rank agreement",
                                  TauText(comparison.rank_agreement()), width));
  absl::StrAppend(&text, Sentence("in short", comparison.sentence(), width));
  absl::StrAppend(
      &text, Sentence("only first",
                      absl::StrJoin(comparison.only_first(), ", "), width));
  absl::StrAppend(
      &text, Sentence("only second",
                      absl::StrJoin(comparison.only_second(), ", "), width));
  return text;
}

}  // namespace frostline::cli
