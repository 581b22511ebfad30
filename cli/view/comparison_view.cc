// SPDX-License-Identifier: Apache-2.0
#include "cli/view/comparison_view.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "study/objective.h"

namespace frostline::cli {
namespace {

using Tests = std::vector<const v1::PairedTest*>;

struct Groups {
  Tests better;
  Tests worse;
  Tests alike;
  Tests untested;
};

Groups GroupsOf(const v1::TrialComparison& comparison) {
  const bool more_is_better = comparison.direction() != v1::DIRECTION_MINIMIZE;
  Groups groups;
  for (const v1::PairedTest& test : comparison.tests()) {
    if (test.method() == v1::PairedTest::METHOD_UNSPECIFIED ||
        std::isnan(test.p())) {
      groups.untested.push_back(&test);
    } else if (!test.differs()) {
      groups.alike.push_back(&test);
    } else {
      const bool is_better = (test.difference() > 0.0) == more_is_better;
      (is_better ? groups.better : groups.worse).push_back(&test);
    }
  }
  return groups;
}

// Returns an amount in points for a metric that ends at 1, else the plain
// value. Adding 0 turns -0 into 0.
std::string Amount(const v1::TrialComparison& comparison, double amount,
                   bool with_sign) {
  const bool in_points = PresumedRange(comparison.metric()).hi == 1.0;
  const std::string number =
      in_points
          ? absl::StrFormat("%+.1f", std::round(1000.0 * amount) / 10.0 + 0.0)
          : absl::StrFormat("%+.4g", amount);
  return absl::StrCat(with_sign ? number : number.substr(1),
                      in_points ? " points" : "");
}

std::string ListOf(const v1::TrialComparison& comparison, const Tests& tests) {
  return absl::StrJoin(
      tests, ", ", [&](std::string* out, const v1::PairedTest* test) {
        absl::StrAppend(out, test->second(), " (",
                        Amount(comparison, test->difference(), true), ")");
      });
}

// Returns ", where 9.4 points would have been seen", with the largest visible
// difference.
std::string VisibleText(const v1::TrialComparison& comparison,
                        const Tests& alike) {
  double visible = 0.0;
  for (const v1::PairedTest* const test : alike) {
    if (std::isnan(test->smallest_difference())) return "";
    visible = std::max(visible, test->smallest_difference());
  }
  return absl::StrCat(", where ", Amount(comparison, visible, false),
                      " would have been seen");
}

std::string MarginText(const v1::TrialComparison& comparison,
                       const Tests& alike) {
  if (!(comparison.margin() > 0.0)) return "";
  Tests tested = alike;
  std::erase_if(tested, [](const v1::PairedTest* test) {
    return std::isnan(test->worse_p());
  });
  if (tested.empty()) return "";
  const std::string margin = Amount(comparison, comparison.margin(), false);
  Tests kept;
  std::copy_if(tested.begin(), tested.end(), std::back_inserter(kept),
               [](const v1::PairedTest* test) { return test->not_worse(); });
  if (kept.empty()) {
    return absl::StrCat("; that one of these is not worse by ", margin,
                        " or more is not shown");
  }
  return absl::StrCat("; surely not worse by ", margin,
                      " or more: ", ListOf(comparison, kept));
}

}  // namespace

std::string SummaryOf(const v1::TrialComparison& comparison) {
  const auto& tests = comparison.tests();
  const bool has_one_first = std::all_of(
      tests.begin(), tests.end(),
      [&tests](const auto& test) { return test.first() == tests[0].first(); });
  if (tests.size() < 2 || !has_one_first) return comparison.verdict();
  const Groups groups = GroupsOf(comparison);
  std::vector<std::string> parts;
  const auto add = [&](const char* what, const Tests& group) {
    if (group.empty()) return;
    parts.push_back(absl::StrCat(what, ListOf(comparison, group)));
  };
  add(groups.better.size() == 1 ? "better is " : "better are ", groups.better);
  add(groups.worse.size() == 1 ? "worse is " : "worse are ", groups.worse);
  add("cannot be told apart: ", groups.alike);
  if (!groups.alike.empty()) {
    absl::StrAppend(&parts.back(), VisibleText(comparison, groups.alike),
                    MarginText(comparison, groups.alike));
  }
  add("cannot be tested, of one run each without examples: ", groups.untested);
  return absl::StrCat("by ", comparison.metric(), " against ", tests[0].first(),
                      ": ", absl::StrJoin(parts, "; "));
}

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
