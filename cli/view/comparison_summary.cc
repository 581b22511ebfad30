// SPDX-License-Identifier: Apache-2.0
#include "cli/view/comparison_summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
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

// Of a metric that ends at 1 in points, else as it is. Adding 0 makes -0 0.
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

// ", where 9.4 points would have been seen": the largest of what was visible.
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

}  // namespace frostline::cli
