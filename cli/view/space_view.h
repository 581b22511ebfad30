// SPDX-License-Identifier: Apache-2.0
//
// File: space_view.h
#ifndef FROSTLINE_CLI_VIEW_SPACE_VIEW_H_
#define FROSTLINE_CLI_VIEW_SPACE_VIEW_H_

#include <string>
#include <vector>

#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// A line for each kind of value, with all that has it: "embeddings, layer.0-5:
// 0, 3e-05, 0.0003", "head: always 0.001", "kind: small, large".
std::vector<std::string> SpaceLines(const v1::StudySpec& spec);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_SPACE_VIEW_H_
