// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_plan.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "cli/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"

namespace frostline {
namespace {

constexpr char kSpace[] = "\nspace:";
constexpr char kLevels[] = "&rates ";
// Means of fewer trials say nothing.
constexpr int kFewestTrials = 2;

struct Sum {
  int trials = 0;
  double total = 0.0;

  TrialMean Mean() const {
    return {trials, trials > 0 ? total / trials : std::nan("")};
  }
};

NextStep StepOf(const v1::ParameterImportance& importance,
                const std::vector<v1::Trial>& trials) {
  Sum frozen;
  Sum trained;
  for (const v1::Trial& trial : trials) {
    if (trial.values().empty()) continue;
    for (const v1::ParameterValue& value : trial.parameters()) {
      if (value.name() != importance.parameter()) continue;
      Sum& sum = value.value().number_value() == 0.0 ? frozen : trained;
      ++sum.trials;
      sum.total += trial.values(0);
    }
  }
  return {importance.parameter(), frozen.Mean(), trained.Mean(), false, ""};
}

void Judge(const v1::ParameterImportance& importance, NextStep& step) {
  if (importance.rank() == 1) {
    step.reason = "matters most";
    return;
  }
  const bool compared = step.frozen.trials >= kFewestTrials &&
                        step.trained.trials >= kFewestTrials;
  const bool harmless = compared && step.frozen.mean >= step.trained.mean;
  if (importance.distinguishable()) {
    step.freeze =
        harmless && DirectionText(importance.direction()) == "lower is better";
    step.reason = step.freeze ? "matters, and does better at low rates"
                              : "matters more than chance would give";
  } else {
    step.freeze = harmless;
    step.reason = step.freeze ? "no effect seen, frozen was no worse"
                  : compared  ? "no clear effect, trained was better"
                              : "too few trials to say";
  }
}

std::string MeanText(const TrialMean& mean) {
  if (mean.trials == 0) return "-";
  return absl::StrFormat("%.3f (%d)", mean.mean, mean.trials);
}

// What stands behind "&rates " in the recipe: the levels of its modules.
std::string LevelsOf(const std::string& recipe) {
  const std::size_t found = recipe.find(kLevels);
  if (found == std::string::npos) return "";
  const std::size_t start = found + sizeof(kLevels) - 1;
  return recipe.substr(start, recipe.find('\n', start) - start);
}

}  // namespace

std::vector<NextStep> PlanNext(const v1::ImportanceReport& report,
                               const std::vector<v1::Trial>& trials) {
  std::vector<NextStep> steps;
  for (const v1::ParameterImportance& importance : report.parameters()) {
    steps.push_back(StepOf(importance, trials));
    Judge(importance, steps.back());
  }
  return steps;
}

std::string RenderNext(const std::vector<NextStep>& steps, int width) {
  Table table({{"MODULE"},
               {"FROZEN", Align::kRight},
               {"TRAINED", Align::kRight},
               {"NEXT"},
               {"WHY"}});
  for (const NextStep& step : steps) {
    table.AddRow({step.module, MeanText(step.frozen), MeanText(step.trained),
                  step.freeze ? "freeze" : "search", step.reason});
  }
  return table.Render(width);
}

std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const std::vector<NextStep>& steps) {
  const std::string levels = LevelsOf(recipe);
  std::string text = "# Made by `frostline demo` from what it has found.\n";
  const std::string kept = recipe.substr(0, recipe.find(kSpace));
  for (const absl::string_view line : absl::StrSplit(kept, '\n')) {
    if (line.substr(0, 1) == "#") continue;
    const bool is_id = line.substr(0, 3) == "id:";
    absl::StrAppend(&text, is_id ? "id: " + id : std::string(line), "\n");
  }
  absl::StrAppend(&text, "space:\n  modules:\n");
  for (const NextStep& step : steps) {
    absl::StrAppend(&text, "    ", step.module, ": ",
                    step.freeze ? "frozen" : levels, "  # ", step.reason, "\n");
  }
  return text + "    pooler: 1e-3\n    head: 1e-3\n";
}

}  // namespace frostline
