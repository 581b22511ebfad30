// SPDX-License-Identifier: Apache-2.0
//
// File: prefix_view.h
#ifndef FROSTLINE_CLI_VIEW_PREFIX_VIEW_H_
#define FROSTLINE_CLI_VIEW_PREFIX_VIEW_H_

#include <optional>
#include <string>

#include "frostline/v1/study_service.pb.h"
#include "worker/registry/fit.h"

namespace frostline::cli {

// Says how much of a new study's frozen prefixes can be shared, and what that
// takes of a node's disk; nothing of `needs` says that it cannot be known here.
// Empty of a model without layers.
std::string RenderPrefixes(const v1::CreateStudyReply& reply,
                           const std::optional<registry::BoundaryNeeds>& needs,
                           int width);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_PREFIX_VIEW_H_
