// SPDX-License-Identifier: Apache-2.0
//
// File: importance_view.h
//
// Importance as text. Parameters are in depth order. Lines are cut at `width`
// columns (0: never).
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_

#include <set>
#include <string>

#include "cli/view/importance_text.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// Returns the report, with `head` between the verdict and the table.
std::string RenderImportance(const v1::ImportanceReport& report,
                             const std::string& head, int width);

// Returns the strongest pairs and the number of all pairs.
std::string RenderPairs(const v1::ImportanceReport& report, int width);
std::string RenderGroups(const v1::ImportanceReport& report, int width);
std::string RenderSubsets(const v1::ImportanceReport& report, int width);

// The parameters that are rates of modules; their value 0 is shown as "frozen".
using RateNames = std::set<std::string>;
RateNames RatesIn(const v1::ImportanceReport& report);

std::string RenderMarginals(const v1::GetMarginalsReply& reply,
                            const RateNames& rates, int width);
// Returns a table with a row for each value of the first parameter and a column
// for each of the second.
std::string RenderPairMarginal(const v1::PairMarginal& table,
                               const RateNames& rates, int width);
std::string RenderStability(const v1::GetStabilityReply& reply, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
