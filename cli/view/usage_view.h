// SPDX-License-Identifier: Apache-2.0
//
// File: usage_view.h
//
// What trials cost and what freezing saved, as lines of KeyLine(). What nobody
// said has no line.
#ifndef FROSTLINE_CLI_VIEW_USAGE_VIEW_H_
#define FROSTLINE_CLI_VIEW_USAGE_VIEW_H_

#include <string>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

std::string UsageLines(const v1::StudyUsage& usage);
std::string UsageLines(const v1::Usage& usage);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_USAGE_VIEW_H_
