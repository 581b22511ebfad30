// SPDX-License-Identifier: Apache-2.0
//
// File: comparison_view.h
#ifndef FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_
#define FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_

#include <string>

#include "frostline/v1/comparison.pb.h"

namespace frostline::cli {

// Shows what was found, each contender's mean, each test in a row, and what the
// numbers do not say.
std::string RenderTrialComparison(const v1::TrialComparison& comparison,
                                  int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_COMPARISON_VIEW_H_
