// SPDX-License-Identifier: Apache-2.0
//
// File: importance_svg.h
#ifndef FROSTLINE_CLI_VIEW_IMPORTANCE_SVG_H_
#define FROSTLINE_CLI_VIEW_IMPORTANCE_SVG_H_

#include <string>

#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {

// Draws a bar for each module in depth order, with 80 and 95 % intervals; it is
// hollow beyond the lower end of the former, and where it may be chance.
std::string ImportanceSvg(const v1::ImportanceReport& report);

std::string MarginalsSvg(const v1::GetMarginalsReply& reply);

// Draws a heat map: the darker the higher.
std::string PairMarginalSvg(const v1::PairMarginal& table);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_IMPORTANCE_SVG_H_
