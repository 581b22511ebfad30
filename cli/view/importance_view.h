// SPDX-License-Identifier: Apache-2.0
//
// File: importance_view.h
//
// Parameters come in depth order. Lines are cut at `width` columns (0: never).
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_

#include <set>
#include <string>

#include "cli/view/importance_text.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// `head` stands between the verdict and the table.
std::string RenderImportance(const v1::ImportanceReport& report,
                             const std::string& head, int width);

// Shows the strongest pairs, and how many there are in all.
std::string RenderPairs(const v1::ImportanceReport& report, int width);
std::string RenderGroups(const v1::ImportanceReport& report, int width);
std::string RenderSubsets(const v1::ImportanceReport& report, int width);

// Modules take their rate from these parameters: there 0 is "frozen".
using RateNames = std::set<std::string>;
RateNames RatesIn(const v1::ImportanceReport& report);

std::string RenderMarginals(const v1::GetMarginalsReply& reply,
                            const RateNames& rates, int width);
// Rows have the first parameter's values, columns the second's.
std::string RenderPairMarginal(const v1::PairMarginal& table,
                               const RateNames& rates, int width);
std::string RenderStability(const v1::GetStabilityReply& reply, int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_VIEW_H_
