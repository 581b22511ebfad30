// SPDX-License-Identifier: Apache-2.0
#include "cli/view/comparison_view.h"

#include <cmath>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"

namespace frostline::cli {
namespace {

std::string Signed(double value) {
  return std::isnan(value) ? "-" : absl::StrFormat("%+.4f", value);
}

std::string Plain(double value) {
  return std::isnan(value) ? "-" : absl::StrFormat("%.4f", value);
}

std::string PText(double p) {
  if (std::isnan(p)) return "-";
  return p < 0.001 ? "< 0.001" : absl::StrFormat("%.3f", p);
}

std::string MethodText(v1::PairedTest::Method method) {
  switch (method) {
    case v1::PairedTest::MCNEMAR:
      return "McNemar";
    case v1::PairedTest::SIGNS:
      return "signs";
    case v1::PairedTest::BOOTSTRAP:
      return "bootstrap";
    case v1::PairedTest::SEEDS:
      return "seeds";
    default:
      return "-";
  }
}

std::string DataText(const v1::TrialComparison& comparison) {
  std::string text = absl::StrCat(
      "paired tests of ", comparison.metric(),
      comparison.direction() == v1::DIRECTION_MINIMIZE ? " (lower is better)"
                                                       : "",
      ": ", FormatCount(comparison.examples()),
      comparison.sentences() > 0 ? " words in " : " examples");
  if (comparison.sentences() > 0) {
    absl::StrAppend(&text, FormatCount(comparison.sentences()), " sentences");
  }
  if (comparison.draws() > 0) {
    absl::StrAppend(&text, ", ", FormatCount(comparison.draws()), " resamples");
  }
  return text;
}

std::string MeansTable(const v1::TrialComparison& comparison, int width) {
  Table table({{"TRIAL"}, {"MEAN", Align::kRight}, {"RUNS", Align::kRight}});
  for (const v1::ComparedContender& contender : comparison.contenders()) {
    table.AddRow({contender.name(), Plain(contender.mean()),
                  absl::StrCat(contender.runs_size())});
  }
  return table.Render(width);
}

std::string TestsTable(const v1::TrialComparison& comparison, int width) {
  const bool margin = comparison.margin() > 0.0;
  std::vector<Column> columns = {{"SECOND"},
                                 {"LESS", Align::kLeft, 1},
                                 {"DIFFERENCE", Align::kRight},
                                 {"95 %", Align::kRight},
                                 {"p", Align::kRight},
                                 {"VISIBLE FROM", Align::kRight, 2},
                                 {"TEST", Align::kLeft, 3}};
  if (margin) columns.push_back({"WORSE, p", Align::kRight});
  Table table(columns);
  for (const v1::PairedTest& test : comparison.tests()) {
    std::vector<std::string> row = {
        test.second(),
        test.first(),
        absl::StrCat(Signed(test.difference()), test.differs() ? "*" : " "),
        std::isnan(test.lo95())
            ? "-"
            : absl::StrCat(Signed(test.lo95()), " – ", Signed(test.hi95())),
        PText(test.adjusted_p()),
        Plain(test.smallest_difference()),
        MethodText(test.method())};
    if (margin) row.push_back(PText(test.worse_p()));
    table.AddRow(row);
  }
  return table.Render(width);
}

}  // namespace

std::string RenderTrialComparison(const v1::TrialComparison& comparison,
                                  int width) {
  std::string text = Caption(DataText(comparison), false, width);
  for (const v1::PairedTest& test : comparison.tests()) {
    text += VerdictLines(test.finding(), width);
  }
  absl::StrAppend(&text, "\n", MeansTable(comparison, width), "\n",
                  TestsTable(comparison, width),
                  "p: ", comparison.tests_size() > 1 ? "Holm's; " : "",
                  "* below 0.05. VISIBLE FROM: what would have been found 4 "
                  "times in 5\n");
  for (const std::string& note : comparison.notes()) {
    text += Sentence("note", note, width);
  }
  return text;
}

}  // namespace frostline::cli
