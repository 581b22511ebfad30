// SPDX-License-Identifier: Apache-2.0
//
// File: comparison_view.h
#ifndef FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_
#define FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_

#include <string>

#include "frostline/v1/comparison.pb.h"

namespace frostline::cli {

// Summarizes all tests against one setting in one sentence:
//
//   by test.accuracy against baseline: worse is head only (-24.8 points);
//   cannot be told apart: ALF-1 (-6.5 points), best found (+1.0 points),
//   where 9.4 points would have been seen; that one of these is not worse by
//   1.0 points or more is not shown
//
// For a single test, or for several reference settings, it returns the
// sentences of the tests themselves.
std::string SummaryOf(const v1::TrialComparison& comparison);

// Returns the findings, the mean of each contender, a row for each test, and
// what the numbers do not say.
std::string RenderTrialComparison(const v1::TrialComparison& comparison,
                                  int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_
