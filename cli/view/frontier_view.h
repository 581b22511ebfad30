// SPDX-License-Identifier: Apache-2.0
//
// File: frontier_view.h
#ifndef FROSTLINE_CLI_VIEW_FRONTIER_VIEW_H_
#define FROSTLINE_CLI_VIEW_FRONTIER_VIEW_H_

#include <string>
#include <vector>

#include "frostline/v1/plan.pb.h"

namespace frostline::cli {

std::string RenderFrontier(const v1::Frontier& frontier, int width);

// Has a few rows of the first table, for the head of a report.
std::string RenderFrontierInShort(const v1::Frontier& frontier, int width);

// Writes "embeddings, layer.0-2, head", or "nothing".
std::string ModuleList(const std::vector<std::string>& modules);

// What is frozen from below: "nothing", "embeddings", "below layer.4", "all
// layers".
std::string FrozenPrefix(const v1::Frontier& frontier,
                         const v1::FrontierSet& set);

std::string FrontierCsv(const v1::Frontier& frontier);

// Draws a row for each set with its 80 and 95 % intervals; what is within the
// tolerance is shaded, the chosen set marked.
std::string FrontierSvg(const v1::Frontier& frontier);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_FRONTIER_VIEW_H_
