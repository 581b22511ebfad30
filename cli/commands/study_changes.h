// SPDX-License-Identifier: Apache-2.0
//
// File: study_changes.h
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_CHANGES_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_CHANGES_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/client/client.h"

namespace frostline::cli {

// Reads the study, lets `change` alter its settings and name in the mask what
// it altered, and writes that; does it all again where somebody was faster.
// `change` is called each time, and its error ends it.
absl::StatusOr<v1::Study> ChangeSettings(
    Client& client, const std::string& study,
    const std::function<absl::Status(v1::UpdateStudyRequest&)>& change);

// A note as the command line gives it: "-" is standard input.
absl::StatusOr<std::string> ReadNote(const std::string& word);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_CHANGES_H_
