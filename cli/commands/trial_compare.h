// SPDX-License-Identifier: Apache-2.0
//
// File: trial_compare.h
//
// `frostline trial compare`.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_COMPARE_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_COMPARE_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/commands/command.h"
#include "frostline/v1/comparison.pb.h"

namespace frostline::cli {

// Takes "imdb/12", "imdb/12,15" for runs of one setting with different seeds,
// and "studies/imdb/trials/12".
absl::StatusOr<v1::Contender> ContenderFrom(const std::string& argument);

void AddTrialCompare(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_COMPARE_H_
