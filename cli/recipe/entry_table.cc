// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/entry_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/report/trial_figures.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/svg.h"
#include "study/objective.h"

namespace frostline::cli {
namespace {

constexpr double kBytesOfMebibyte = 1024.0 * 1024.0;

using TestOf = const v1::PairedTest*;

const RunTrials* RunOfEntry(const std::vector<RunTrials>& runs,
                            const std::string& name) {
  const auto found = std::ranges::find(runs, name, &RunTrials::name);
  return found == runs.end() ? nullptr : &*found;
}

// Returns the spread of what was measured; 0 is what nobody measured.
template <typename Of>
Spread MeasuredOf(const RunTrials& run, Of of) {
  std::vector<double> values;
  for (const v1::Trial* trial : run.succeeded) {
    const double value = of(trial->usage());
    if (value > 0.0) values.push_back(value);
  }
  return SpreadOf(values);
}

// Returns the test of an entry against the first, or null.
TestOf FindTest(const AcrossRecord& across, const std::string& name) {
  for (const v1::PairedTest& test : across.comparison.tests()) {
    if (test.second() == name && !std::isnan(test.p())) return &test;
  }
  return nullptr;
}

bool InPoints(const AcrossRecord& across) {
  return PresumedRange(across.comparison.metric()).hi == 1.0;
}

std::string PointsText(const AcrossRecord& across, double amount,
                       bool with_sign) {
  const std::string number =
      InPoints(across)
          ? absl::StrFormat("%+.1f", std::round(1000.0 * amount) / 10.0 + 0.0)
          : absl::StrFormat("%+.4g", amount);
  return absl::StrCat(with_sign ? number : number.substr(1),
                      InPoints(across) ? " points" : "");
}

std::string VerdictOfTest(const AcrossRecord& across, TestOf test) {
  if (test == nullptr) return "";
  const bool more_is_better =
      across.comparison.direction() != v1::DIRECTION_MINIMIZE;
  if (test->differs()) {
    return (test->difference() > 0.0) == more_is_better ? "better" : "worse";
  }
  return across.comparison.margin() > 0.0 && test->not_worse()
             ? "not worse"
             : "cannot be told";
}

std::string Figure(double value) {
  return std::isnan(value) ? "" : FormatNumber(value);
}

std::string FigureWithDeviation(const Spread& spread) {
  if (std::isnan(spread.mean)) return "";
  return std::isnan(spread.deviation)
             ? absl::StrFormat("%.4f", spread.mean)
             : absl::StrFormat("%.4f ± %.4f", spread.mean, spread.deviation);
}

}  // namespace

std::vector<EntryCost> EntryCostsOf(const RecipeRecord& record,
                                    const AcrossRecord& across) {
  std::vector<EntryCost> costs;
  for (const v1::ComparedContender& contender :
       across.comparison.contenders()) {
    for (const StageRecord& stage : record.stages) {
      if (LabelOf(stage.study, kRecipeStageLabel) != across.stage ||
          EntryNameOf(stage.study) != contender.name()) {
        continue;
      }
      const std::vector<RunTrials> runs = RunsOf(stage.study);
      const RunTrials* const run = RunOfEntry(runs, across.run);
      if (run == nullptr) continue;
      costs.push_back(
          {contender.name(), MetricOf(*run, across.comparison.metric()),
           MeasuredOf(*run,
                      [](const v1::Usage& usage) {
                        return static_cast<double>(usage.trained_parameters());
                      }),
           MeasuredOf(
               *run,
               [](const v1::Usage& usage) { return usage.train_seconds(); }),
           MeasuredOf(*run, [](const v1::Usage& usage) {
             return static_cast<double>(usage.peak_memory_bytes()) /
                    kBytesOfMebibyte;
           })});
    }
  }
  return costs;
}

ReportTable EntryTable(const RecipeRecord& record, const AcrossRecord& across) {
  const std::string metric = across.comparison.metric();
  ReportTable table = {
      absl::StrCat(across.stage, "-entries"),
      {"entry", PeoplesName(metric), "trained weights", "train seconds",
       "peak MiB", "difference", "95 %", "verdict"},
      {},
      CsvLine({"entry", metric, "deviation", "trained_weights", "train_seconds",
               "peak_memory_mib", "difference", "lo95", "hi95", "adjusted_p",
               "worse_p", "smallest_difference"})};
  for (const EntryCost& cost : EntryCostsOf(record, across)) {
    const TestOf test = FindTest(across, cost.name);
    const bool has_interval = test != nullptr && !std::isnan(test->lo95());
    table.rows.push_back(
        {cost.name, FigureWithDeviation(cost.score),
         std::isnan(cost.trained_weights.mean)
             ? ""
             : FormatCount(
                   static_cast<std::int64_t>(cost.trained_weights.mean)),
         Figure(cost.seconds.mean), Figure(cost.memory_mib.mean),
         test == nullptr ? "" : PointsText(across, test->difference(), true),
         has_interval
             ? absl::StrCat(PointsText(across, test->lo95(), true), " … ",
                            PointsText(across, test->hi95(), true))
             : "",
         VerdictOfTest(across, test)});
    const auto csv = [&](double (v1::PairedTest::*of)() const) {
      return test == nullptr ? "" : CsvNumber((test->*of)());
    };
    table.csv += CsvLine(
        {cost.name, CsvNumber(cost.score.mean), CsvNumber(cost.score.deviation),
         CsvNumber(cost.trained_weights.mean), CsvNumber(cost.seconds.mean),
         CsvNumber(cost.memory_mib.mean), csv(&v1::PairedTest::difference),
         csv(&v1::PairedTest::lo95), csv(&v1::PairedTest::hi95),
         csv(&v1::PairedTest::adjusted_p), csv(&v1::PairedTest::worse_p),
         csv(&v1::PairedTest::smallest_difference)});
  }
  return table;
}

namespace {

constexpr double kThird = 195.0;  // of three plots side by side
constexpr double kBetweenThirds = 54.0;
constexpr double kEntryLine = 15.0;  // of the names below
constexpr std::size_t kNameColumns = 3;
constexpr int kEntryWidth = 30;  // columns of a name

using CostOfEntry = double (*)(const EntryCost&);

struct CostPlot {
  std::string_view name;
  CostOfEntry of;
};

constexpr std::array<CostPlot, 3> kCostPlots = {
    {{"trained weights",
      [](const EntryCost& cost) { return cost.trained_weights.mean; }},
     {"train seconds", [](const EntryCost& cost) { return cost.seconds.mean; }},
     {"peak MiB", [](const EntryCost& cost) { return cost.memory_mib.mean; }}}};

double ErrorOf(const Spread& spread) {
  const double error =
      spread.deviation / std::sqrt(static_cast<double>(spread.count));
  return std::isnan(error) ? 0.0 : error;
}

// Draws one plot of three. Letters of dots that would cover each other stand
// beside each other.
void DrawCostPlot(Svg& svg, const std::vector<EntryCost>& costs,
                  const CostPlot& by, const std::string& metric, double x) {
  PlotAxis across, up;
  for (const EntryCost& cost : costs) {
    if (std::isnan(by.of(cost))) continue;
    across.Show(by.of(cost));
    up.Show(cost.score.mean - ErrorOf(cost.score));
    up.Show(cost.score.mean + ErrorOf(cost.score));
  }
  if (across.empty()) return;
  Plot plot(svg, x, kPlotTop, kThird, kPlotHeight, across, up);
  plot.DrawFrame(std::string(by.name), metric);
  std::vector<std::pair<double, double>> drawn;
  for (std::size_t turn = 1; turn <= costs.size(); ++turn) {
    const std::size_t i = turn % costs.size();  // the first lies on top
    if (std::isnan(by.of(costs[i]))) continue;
    const Spread& score = costs[i].score;
    const double at = plot.X(by.of(costs[i]));
    const double height = plot.Y(score.mean);
    if (ErrorOf(score) > 0.0) {
      svg.Line(at, plot.Y(score.mean - ErrorOf(score)), at,
               plot.Y(score.mean + ErrorOf(score)), "line");
    }
    svg.Dot(at, height, i == 0 ? "best" : "dot");
    double beside = 6.0;
    for (const auto& [other_at, other_height] : drawn) {
      const bool is_near = std::abs(other_at - at) < 8.0 &&
                           std::abs(other_height - height) < 10.0;
      if (is_near) beside += 8.0;
    }
    // At the right end letters stand left of their dots.
    const bool is_last = at > x + kThird - 24.0;
    svg.Text(is_last ? at - beside : at + beside, height - 5, MarkOf(i),
             is_last ? "small end" : "small");
    drawn.emplace_back(at, height);
  }
}

}  // namespace

std::string EntryCostsSvg(const RecipeRecord& record,
                          const AcrossRecord& across) {
  std::vector<EntryCost> costs = EntryCostsOf(record, across);
  std::erase_if(
      costs, [](const EntryCost& cost) { return std::isnan(cost.score.mean); });
  if (costs.size() < 2) return "";
  const std::string metric = PeoplesName(across.comparison.metric());
  const std::string title =
      absl::StrCat("What ", metric, " costs: weights, seconds, memory");
  const std::size_t lines = (costs.size() + kNameColumns - 1) / kNameColumns;
  const double names_top = kPlotTop + kPlotHeight + 50.0;
  Svg svg(kPictureWidth, names_top + kEntryLine * static_cast<double>(lines),
          title);
  svg.Text(16, 26, title, "title");
  svg.Text(16, 44,
           absl::StrCat("Mean over seeds with its standard error; orange: '",
                        costs[0].name, "', with which all are compared"),
           "small");
  double x = kPlotLeft - 14.0;
  for (const CostPlot& plot : kCostPlots) {
    DrawCostPlot(svg, costs, plot, metric, x);
    x += kThird + kBetweenThirds;
  }
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double column = static_cast<double>(i / lines);
    const double line = static_cast<double>(i % lines);
    svg.Text(
        16 + column * (kPictureWidth - 32.0) / kNameColumns,
        names_top + line * kEntryLine,
        absl::StrCat(MarkOf(i), "  ", FitToWidth(costs[i].name, kEntryWidth),
                     "  ", absl::StrFormat("%.4f", costs[i].score.mean)),
        "small");
  }
  return svg.Finish();
}

namespace {

// Returns "'lora-4' (+0.3 points), 'biases' (-0.1 points)".
std::string QuotedEntries(const AcrossRecord& across,
                          const std::vector<TestOf>& tests) {
  return absl::StrJoin(tests, ", ", [&](std::string* out, TestOf test) {
    absl::StrAppend(out, "'", test->second(), "' (",
                    PointsText(across, test->difference(), true), ")");
  });
}

}  // namespace

std::string EntryAnswer(const AcrossRecord& across) {
  const v1::TrialComparison& comparison = across.comparison;
  std::vector<TestOf> better;
  std::vector<TestOf> not_worse;
  double visible = 0.0;
  bool is_any = false;
  for (const v1::PairedTest& test : comparison.tests()) {
    if (std::isnan(test.p()) || std::isnan(test.smallest_difference())) {
      continue;
    }
    is_any = true;
    visible = std::max(visible, test.smallest_difference());
    const std::string verdict = VerdictOfTest(across, &test);
    if (verdict == "better") better.push_back(&test);
    if (test.not_worse() && comparison.margin() > 0.0) {
      not_worse.push_back(&test);
    }
  }
  if (!is_any) return "";
  const std::string to = comparison.tests(0).first();
  const std::string seen =
      absl::StrCat(PointsText(across, visible, false), " of ",
                   PeoplesName(comparison.metric()));
  std::string text =
      better.empty()
          ? absl::StrCat("Trying rules was not worth it: none beats '", to,
                         "' for sure, where ", seen, " would have been seen.")
          : absl::StrCat(
                "Trying rules was worth it: ", QuotedEntries(across, better),
                " surely beat", better.size() == 1 ? "s '" : " '", to, "'; ",
                seen, " would have been seen.");
  if (!(comparison.margin() > 0.0)) return text;
  const std::string margin = PointsText(across, comparison.margin(), false);
  return absl::StrCat(
      text, not_worse.empty()
                ? absl::StrCat(" That any rule is not worse by ", margin,
                               " or more is not shown.")
                : absl::StrCat(" Surely not worse by ", margin, " or more: ",
                               QuotedEntries(across, not_worse), "."));
}

std::string SearchAnswer(const v1::TrialComparison& comparison) {
  const AcrossRecord across = {"", "", comparison};
  const double sign =
      comparison.direction() == v1::DIRECTION_MINIMIZE ? -1.0 : 1.0;
  const auto is_better = [sign](TestOf a, TestOf b) {
    return sign * a->difference() > sign * b->difference();
  };
  std::vector<TestOf> better;
  std::vector<TestOf> alike;
  double visible = 0.0;
  std::size_t tested = 0;
  for (const v1::PairedTest& test : comparison.tests()) {
    if (std::isnan(test.p()) || std::isnan(test.smallest_difference())) {
      continue;
    }
    ++tested;
    visible = std::max(visible, test.smallest_difference());
    const std::string verdict = VerdictOfTest(across, &test);
    if (verdict == "better") better.push_back(&test);
    if (verdict != "better" && verdict != "worse") alike.push_back(&test);
  }
  if (tested == 0) return "";
  std::ranges::sort(better, is_better);
  std::ranges::sort(alike, is_better);
  const std::string plan = comparison.tests(0).first();
  const std::string seen =
      absl::StrCat(", where ", PointsText(across, visible, false), " of ",
                   PeoplesName(comparison.metric()), " would have been seen.");
  if (better.empty() && alike.empty()) {
    return absl::StrCat("The search was worth it: ", plan,
                        " surely beats each of ", tested,
                        " rules that need "
                        "none",
                        seen);
  }
  const std::vector<TestOf>& named = better.empty() ? alike : better;
  const std::size_t others = named.size() - 1;
  return absl::StrCat(
      "The search was not worth it: ", QuotedEntries(across, {named[0]}),
      others == 0 ? ""
                  : absl::StrCat(" and ", others, " other rule",
                                 others == 1 ? "" : "s"),
      better.empty() ? " cannot be told from "
                     : (others == 0 ? " surely beats " : " surely beat "),
      plan, seen);
}

std::string RenderEntries(const RecipeRecord& record, int width) {
  std::string text;
  std::string stage;
  for (const AcrossRecord& across : record.across) {
    if (across.stage == stage) continue;  // of its first run and metric alone
    stage = across.stage;
    const ReportTable entries = EntryTable(record, across);
    std::vector<Column> columns;
    for (const std::string& name : entries.columns) {
      const bool is_text = columns.empty() || name == "verdict";
      columns.push_back({name, is_text ? Align::kLeft : Align::kRight,
                         name == "95 %" ? 1 : 0});
    }
    Table table(std::move(columns));
    for (const auto& row : entries.rows) table.AddRow(row);
    absl::StrAppend(&text, "\n", table.Render(width));
    if (const std::string answer = EntryAnswer(across); !answer.empty()) {
      text += WrapText(answer, width);
    }
  }
  return text;
}

}  // namespace frostline::cli
