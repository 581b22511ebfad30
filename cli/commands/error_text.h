// SPDX-License-Identifier: Apache-2.0
//
// File: error_text.h
#ifndef FROSTLINE_CLI_COMMANDS_ERROR_TEXT_H_
#define FROSTLINE_CLI_COMMANDS_ERROR_TEXT_H_

#include <string>

#include "absl/status/status.h"

namespace frostline::cli {

// "error[FL-2001]: …", then because, at and fix in lines of their own.
std::string ErrorText(const absl::Status& status);

// {"error": {"id": "FL-2001", "reason": …, "cause": …, "field": …, "fix": …,
// "exit_code": 3}}
std::string ErrorJson(const absl::Status& status);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_ERROR_TEXT_H_
