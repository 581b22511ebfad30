// SPDX-License-Identifier: Apache-2.0
//
// File: importance_view.h
//
// An importance report as text: what mattered, in depth order, and how far it
// is to be believed.
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_

#include <string>

#include "frostline/v1/importance.pb.h"

namespace frostline {

std::string RenderImportance(const v1::ImportanceReport& report, int width);

// A bar of `share` (0 … 1) of `columns`, in eighths of a column; "" for NaN.
std::string Bar(double share, int columns);

// "higher is better", "lower is better", or "" where neither can be said.
std::string DirectionText(double direction);

}  // namespace frostline

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
