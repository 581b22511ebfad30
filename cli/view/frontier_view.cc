// SPDX-License-Identifier: Apache-2.0
#include "cli/view/frontier_view.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/term/csv.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"

namespace frostline::cli {
namespace {

constexpr int kMostShort = 4;  // rows of a report's head
constexpr char kLayer[] = "layer.";

// The number of "layer.7"; -1 for any other name.
int FrontierLayerOf(const std::string& module) {
  int layer = -1;
  const bool whole =
      absl::StartsWith(module, kLayer) &&
      absl::SimpleAtoi(module.substr(sizeof(kLayer) - 1), &layer);
  return whole ? layer : -1;
}

std::string SecondsOrDash(double seconds) {
  return std::isnan(seconds) ? "-" : FormatSeconds(seconds);
}

std::vector<std::string> TrainedIn(const v1::FrontierSet& set) {
  return {set.trained().begin(), set.trained().end()};
}

// How many layers the model has, as far as sets name them: 0 where none does.
int LayersIn(const v1::Frontier& frontier) {
  int layers = 0;
  for (const v1::FrontierSet& set : frontier.by_modules()) {
    for (const std::string& module : set.trained()) {
      int layer = 0;
      const std::string number =
          module.substr(std::min(module.size(), sizeof("layer.") - 1));
      const bool is_layer =
          absl::StartsWith(module, "layer.") &&
          absl::SimpleAtoi(number.substr(0, number.find('.')), &layer);
      if (is_layer) layers = std::max(layers, layer + 1);
    }
  }
  return layers;
}

std::string FrontierCaptionOf(const v1::Frontier& frontier) {
  return absl::StrCat("the least to train in ", LastPart(frontier.study()),
                      ": ", frontier.options().target(), " within ",
                      FormatNumber(frontier.tolerance()), " of the best");
}

// The likeliest of all, where none is sure: what is worth a look.
int Likeliest(const v1::Frontier& frontier) {
  const auto& sets = frontier.by_modules();
  const auto best =
      std::max_element(sets.begin(), sets.end(),
                       [](const v1::FrontierSet& a, const v1::FrontierSet& b) {
                         return a.within_tolerance_probability() <
                                b.within_tolerance_probability();
                       });
  return static_cast<int>(best - sets.begin());
}

// Which rows a report shows: the first, the last, and those around the one that
// matters.
std::set<int> RowsInShort(const v1::Frontier& frontier) {
  const int rows = frontier.by_modules_size();
  const int chosen = frontier.chosen();
  const int middle =
      chosen >= 0 && chosen < rows ? chosen : Likeliest(frontier);
  std::set<int> shown;
  for (const int row : {middle, 0, rows - 1, middle - 1, middle + 1, middle - 2,
                        middle + 2, middle - 3, middle + 3}) {
    if (static_cast<int>(shown.size()) == kMostShort) break;
    if (row >= 0 && row < rows) shown.insert(row);
  }
  return shown;
}

std::string Legend(const v1::Frontier& frontier) {
  if (frontier.chosen() < 0) return "";
  return "* the least that is within it with 90 %\n";
}

std::string CountOf(const v1::Frontier& frontier, int row) {
  return absl::StrCat(frontier.by_modules(row).trained_size(),
                      row == frontier.chosen() ? " *" : "  ");
}

std::string ByModules(const v1::Frontier& frontier, int width) {
  Table table({{"TRAINED  ", Align::kRight},
               {"PREDICTED, 80 %"},
               {"WITHIN", Align::kRight},
               {"PARAMETERS", Align::kRight, 1},
               {"SECONDS", Align::kRight, 2},
               {"TRIALS", Align::kRight, 3},
               {.title = "MODULES", .wraps = true}});
  for (int i = 0; i < frontier.by_modules_size(); ++i) {
    const v1::FrontierSet& set = frontier.by_modules(i);
    table.AddRow({CountOf(frontier, i), WithInterval(set.predicted()),
                  Probability(set.within_tolerance_probability()),
                  CountOrDash(set.trained_parameters()),
                  SecondsOrDash(set.seconds()), absl::StrCat(set.trials()),
                  ModuleList(TrainedIn(set))});
  }
  return table.Render(width);
}

std::string ByPrefix(const v1::Frontier& frontier, int width) {
  Table table({{"FROZEN"},
               {"PREDICTED, 80 %"},
               {"WITHIN", Align::kRight},
               {"PARAMETERS", Align::kRight, 1},
               {"SECONDS", Align::kRight, 2},
               {"TRIALS", Align::kRight, 3},
               {.title = "MODULES", .wraps = true}});
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    table.AddRow({FrozenPrefix(frontier, set), WithInterval(set.predicted()),
                  Probability(set.within_tolerance_probability()),
                  CountOrDash(set.trained_parameters()),
                  SecondsOrDash(set.seconds()), absl::StrCat(set.trials()),
                  ModuleList(TrainedIn(set))});
  }
  return table.Render(width);
}

void AddCsvRow(const std::string& kind, const v1::FrontierSet& set,
               bool is_chosen, std::string& text) {
  const v1::Interval& score = set.predicted();
  text += CsvLine(
      {kind, absl::StrCat(set.trained_size()),
       absl::StrJoin(set.trained(), " "), absl::StrCat(set.prefix_frozen()),
       CsvNumber(score.value()), CsvNumber(score.lo80()),
       CsvNumber(score.hi80()), CsvNumber(score.lo95()),
       CsvNumber(score.hi95()), CsvNumber(set.within_tolerance_probability()),
       CsvNumber(set.trained_parameters()), CsvNumber(set.seconds()),
       absl::StrCat(set.trials()), is_chosen ? "true" : "false"});
}

}  // namespace

std::string ModuleList(const std::vector<std::string>& modules) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const int first = FrontierLayerOf(modules[i]);
    std::size_t last = i;
    while (first >= 0 && last + 1 < modules.size() &&
           FrontierLayerOf(modules[last + 1]) ==
               FrontierLayerOf(modules[last]) + 1) {
      ++last;
    }
    parts.push_back(last == i ? modules[i]
                              : absl::StrCat(modules[i], "-",
                                             FrontierLayerOf(modules[last])));
    i = last;
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

std::string FrozenPrefix(const v1::Frontier& frontier,
                         const v1::FrontierSet& set) {
  if (set.prefix_frozen() == 0) return "nothing";
  if (set.prefix_frozen() == 1) return "embeddings";
  const int layers = set.prefix_frozen() - 1;
  // There is no layer above them that they could be below.
  if (layers == LayersIn(frontier)) return "all layers";
  return absl::StrCat("below layer.", layers);
}

std::string RenderFrontier(const v1::Frontier& frontier, int width) {
  std::string text = absl::StrCat(
      Caption(FrontierCaptionOf(frontier), frontier.provisional(), width),
      Verdict(frontier.verdict(), width), ByModules(frontier, width),
      Legend(frontier));
  if (frontier.by_prefix_size() > 0) {
    absl::StrAppend(
        &text,
        "\nby what is frozen from below; above it the best set is trained\n\n",
        ByPrefix(frontier, width));
  }
  std::string warnings;
  for (const v1::Warning& warning : frontier.warnings()) {
    warnings += Sentence("warning", warning.sentence(), width);
  }
  return absl::StrCat(text, warnings.empty() ? "" : "\n", warnings);
}

std::string RenderFrontierInShort(const v1::Frontier& frontier, int width) {
  Table table({{"TRAINED  ", Align::kRight},
               {"PREDICTED, 80 %"},
               {"WITHIN", Align::kRight},
               {"MODULES"}});
  const std::set<int> rows = RowsInShort(frontier);
  for (const int i : rows) {
    const v1::FrontierSet& set = frontier.by_modules(i);
    table.AddRow({CountOf(frontier, i), WithInterval(set.predicted()),
                  Probability(set.within_tolerance_probability()),
                  ModuleList(TrainedIn(set))});
  }
  return absl::StrCat(VerdictLines(frontier.verdict(), width),
                      table.Render(width));
}

std::string FrontierCsv(const v1::Frontier& frontier) {
  std::string text =
      CsvLine({"by", "trained", "modules", "prefix_frozen", "predicted",
               "predicted_lo80", "predicted_hi80", "predicted_lo95",
               "predicted_hi95", "within_tolerance_probability",
               "trained_parameters", "seconds", "trials", "chosen"});
  for (int i = 0; i < frontier.by_modules_size(); ++i) {
    AddCsvRow("modules", frontier.by_modules(i), i == frontier.chosen(), text);
  }
  for (const v1::FrontierSet& set : frontier.by_prefix()) {
    AddCsvRow("prefix", set, false, text);
  }
  return text;
}

}  // namespace frostline::cli
