// SPDX-License-Identifier: Apache-2.0
#include "cli/view/plan_view.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/table.h"
#include "cli/utf8.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "proto/wire_error.h"

namespace frostline {
namespace {

constexpr std::size_t kMaxCommand = 2000;
constexpr int kMostTrialsShown = 8;

std::string ScoreText(const v1::Interval& score) {
  return absl::StrCat(NumberWithin(score), " (80 %: ", NumberInterval(score),
                      ")");
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

std::string TrialsText(const v1::FreezePlan& plan) {
  std::string text;
  for (int i = 0; i < plan.supporting_trials_size(); ++i) {
    if (i == kMostTrialsShown) return text + ", …";
    absl::StrAppend(&text, i > 0 ? ", " : "",
                    LastPart(plan.supporting_trials(i)));
  }
  return text;
}

}  // namespace

std::string RenderFreezePlan(const v1::FreezePlan& plan, int width) {
  Table table({{"MODULE"},
               {"RATE", Align::kRight},
               {"COST OF FREEZING", Align::kRight},
               {"80 % INTERVAL", Align::kRight}});
  std::string reasons;  // too long for a column
  for (const v1::PlannedModule& module : plan.modules()) {
    table.AddRow({module.module(),
                  FormatRate(module.freeze() ? 0.0 : module.rate()),
                  NumberWithin(module.cost_of_freezing()),
                  NumberInterval(module.cost_of_freezing())});
    absl::StrAppend(&reasons, Sentence(module.module(), module.reason()));
  }
  std::string text = absl::StrCat(
      Caption(absl::StrCat("freeze plan for ", LastPart(plan.study()), ": ",
                           plan.options().target(),
                           plan.tolerance() > 0.0
                               ? absl::StrCat(", may give up ",
                                              FormatNumber(plan.tolerance()))
                               : ""),
              plan.provisional()),
      table.Render(width), "\n", reasons, "\n");
  absl::StrAppend(&text,
                  Sentence("predicted", ScoreText(plan.predicted_score())));
  absl::StrAppend(
      &text,
      Sentence("best seen",
               absl::StrCat(ScoreText(plan.best_seen_score()), ", trial ",
                            LastPart(plan.best_seen_trial()))));
  absl::StrAppend(&text, Sentence("saves", SavingText(plan)));
  absl::StrAppend(&text, Sentence("nearest trials", TrialsText(plan)));
  for (const v1::Warning& warning : plan.warnings()) {
    absl::StrAppend(&text, Sentence("warning", warning.sentence()));
  }
  if (plan.verify().empty()) return text;
  absl::StrAppend(&text, "\nto verify it:\n");
  for (const std::string& command : plan.verify()) {
    absl::StrAppend(&text, "  ", CleanText(command, kMaxCommand), "\n");
  }
  return text;
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
              comparison.provisional()),
      table.Render(width), "\n");
  absl::StrAppend(
      &text, Sentence("rank agreement", TauText(comparison.rank_agreement())));
  absl::StrAppend(&text, Sentence("in short", comparison.sentence()));
  absl::StrAppend(
      &text,
      Sentence("only first", absl::StrJoin(comparison.only_first(), ", ")));
  absl::StrAppend(
      &text,
      Sentence("only second", absl::StrJoin(comparison.only_second(), ", ")));
  return text;
}

}  // namespace frostline
