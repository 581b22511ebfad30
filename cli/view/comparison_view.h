// SPDX-License-Identifier: Apache-2.0
//
// File: comparison_view.h
#ifndef FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_
#define FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_

#include <string>

#include "frostline/v1/comparison.pb.h"

namespace frostline::cli {

// What all tests against one setting come to, in one sentence:
//
//   by test.accuracy against baseline: worse is head only (-24.8 points);
//   cannot be told apart: ALF-1 (-6.5 points), best found (+1.0 points),
//   where 9.4 points would have been seen; that one of these is not worse by
//   1.0 points or more is not shown
//
// Of one test, or of several settings that others are set against, it is what
// the tests say themselves.
std::string SummaryOf(const v1::TrialComparison& comparison);

// Shows what was found, each contender's mean, each test in a row, and what the
// numbers do not say.
std::string RenderTrialComparison(const v1::TrialComparison& comparison,
                                  int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_
