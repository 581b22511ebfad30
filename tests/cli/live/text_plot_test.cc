// SPDX-License-Identifier: Apache-2.0
#include "cli/live/text_plot.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_split.h"
#include "cli/term/table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace frostline::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The width of the widest line.
int WidthOf(const std::string& text) {
  int width = 0;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    width = std::max(width, DisplayWidth(line));
  }
  return width;
}

TEST(PlotCurves, JoinsPointsWithALetterForEachCurve) {
  const std::vector<Curve> curves = {{"first", {{0, 0}, {1, 1}}},
                                     {"second", {{0, 1}, {1, 1}}}};
  EXPECT_EQ(PlotCurves(curves, 20, 3),
            "  1 ┤bbbbbbbbbbbbbbb\n"
            "0.5 ┤    aaaaaaa\n"
            "  0 ┤aaaa\n"
            "    └───────────────\n"
            "     0             1\n"
            "a  first\n"
            "b  second\n");
}

TEST(PlotCurves, PutsOnePointIntoTheMiddle) {
  EXPECT_EQ(PlotCurves({{"", {{3, 7}}}}, 20, 3),
            "  │\n"
            "7 ┤        ⠠\n"
            "  │\n"
            "  └─────────────────\n"
            "           3\n");
}

TEST(PlotCurves, FillsEveryWidthAndNoMore) {
  const Curve curve = {"trial 3", {{1, 0.91234}, {50, 0.91236}, {99, 0.9}}};
  for (const int width : {40, 80, 200}) {
    EXPECT_EQ(WidthOf(PlotCurves({curve}, width, 16)), width);
    EXPECT_EQ(WidthOf(PlotCurves({curve, curve}, width, 16)), width);
    EXPECT_EQ(WidthOf(PlotHistory(curve, curve, width, 16)), width);
  }
}

TEST(PlotCurves, LabelsTellTheEndsApart) {
  const std::string text =
      PlotCurves({{"", {{0, 1000.001}, {1, 1000.002}}}}, 60, 5);
  EXPECT_THAT(text, HasSubstr("1000.001"));
  EXPECT_THAT(text, HasSubstr("1000.002"));
}

TEST(PlotCurves, HasOneLabelWhereAllValuesAreEqual) {
  const std::string text = PlotCurves({{"", {{0, 5}, {9, 5}}}}, 40, 5);
  EXPECT_THAT(text, HasSubstr("\n5 ┤"));
  EXPECT_THAT(text, StartsWith("  │"));
}

TEST(PlotCurves, BearsTheLargestNumbers) {
  const double most = std::numeric_limits<double>::max();
  const std::string text = PlotCurves({{"", {{0, -most}, {1, most}}}}, 40, 5);
  EXPECT_THAT(text, HasSubstr("1.798e+308"));
  EXPECT_EQ(WidthOf(text), 40);
}

TEST(PlotCurves, LeavesOutWhatIsNotFiniteAndSaysSo) {
  const std::string text =
      PlotCurves({{"", {{0, 1}, {1, kNaN}, {2, kInfinity}, {3, 2}}}}, 40, 5);
  EXPECT_THAT(text, HasSubstr("2 values are not finite: left out\n"));
  EXPECT_EQ(PlotCurves({{"", {{0, kNaN}}}}, 40, 5),
            "no values to plot\n1 value is not finite: left out\n");
  EXPECT_EQ(PlotCurves({}, 40, 5), "no values to plot\n");
  EXPECT_EQ(PlotHistory({}, {}, 40, 5), "no values to plot\n");
}

TEST(PlotHistory, MarksTrialsAboveTheLineOfTheBest) {
  const Curve values = {"", {{0, 0}, {1, 0}, {2, 1}}};
  const Curve best = {"", {{0, 0}, {1, 0}, {2, 1}}};
  const std::string text = PlotHistory(values, best, 20, 3);
  EXPECT_THAT(text, StartsWith("  1 ┤"));
  EXPECT_EQ(std::count(text.begin(), text.end(), 'o'), 3);
}

v1::ParameterImportance Row(const std::string& name, double value, double lo,
                            double hi) {
  v1::ParameterImportance row;
  row.set_parameter(name);
  row.add_modules(name);
  row.mutable_main()->set_value(value);
  row.mutable_main()->set_lo80(lo);
  row.mutable_main()->set_hi80(hi);
  return row;
}

TEST(PlotImportance, DrawsBarsWithTheirIntervalsAndMarks) {
  v1::ImportanceReport report;
  *report.add_parameters() = Row("head", 0.5, 0.25, 1.0);
  *report.add_parameters() = Row("layer.0", 0.0, kNaN, kNaN);
  // 37 columns: 7 of names, 3 of marks, 7 of shares, a blank, 19 of bars.
  const std::string text =
      PlotImportance(report, {{"head", false}, {"layer.0", true}}, 37);
  EXPECT_THAT(text, StartsWith("head    +  50.0 % █████├████────────┤\n"
                               "layer.0 *   0.0 % \n"));
}

TEST(PlotImportance, FitsEveryWidth) {
  v1::ImportanceReport report;
  *report.add_parameters() = Row(std::string(100, 'x'), 0.4, 0.3, 0.5);
  *report.add_parameters() = Row("nothing", kNaN, kNaN, kNaN);
  for (const int width : {40, 80, 200}) {
    EXPECT_LE(WidthOf(PlotImportance(report, {}, width)), width);
  }
  EXPECT_EQ(PlotImportance({}, {}, 80), "no parameters to plot\n");
}

}  // namespace
}  // namespace frostline::cli
