// SPDX-License-Identifier: Apache-2.0
//
// File: difference_view.h
//
// Why two trials differ, and what a rate of its own gains a module, as text.
#ifndef FROSTLINE_CLI_VIEW_DIFFERENCE_VIEW_H_
#define FROSTLINE_CLI_VIEW_DIFFERENCE_VIEW_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// Returns the verdict, a row for each part of the difference, what they add up
// to, and what is left for luck.
std::string RenderDifference(const v1::DifferenceExplanation& difference,
                             int width);

// Returns a row for each parameter, after a blank line and what it is.
std::string RenderTunability(const v1::ImportanceReport& report, int width);
// Returns CSV with a header.
std::string TunabilityCsv(const v1::ImportanceReport& report);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_DIFFERENCE_VIEW_H_
