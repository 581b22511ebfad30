// SPDX-License-Identifier: Apache-2.0
//
// File: idle_fix.h
#ifndef FROSTLINE_CLI_COMMANDS_IDLE_FIX_H_
#define FROSTLINE_CLI_COMMANDS_IDLE_FIX_H_

#include <string>

#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// What to do about a reason why nothing runs, as it can be typed here: the
// coordinator does not know how it is reached, nor which registry is here.
std::string IdleFix(const v1::ExplainStudyReply::Reason& reason,
                    const std::string& address);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_IDLE_FIX_H_
