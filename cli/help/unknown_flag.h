// SPDX-License-Identifier: Apache-2.0
//
// File: unknown_flag.h
#ifndef FROSTLINE_CLI_HELP_UNKNOWN_FLAG_H_
#define FROSTLINE_CLI_HELP_UNKNOWN_FLAG_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace frostline::cli {

// Names the first word, in the order typed, that looks like a flag and is none
// of the command that was reached: the parser says it last, after all that the
// word made wrong. OK where there is none.
absl::Status FindUnknownFlag(const CLI::App& root,
                             const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_HELP_UNKNOWN_FLAG_H_
