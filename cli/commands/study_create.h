// SPDX-License-Identifier: Apache-2.0
//
// File: study_create.h
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_CREATE_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_CREATE_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/client/client.h"

namespace frostline::cli {

// Changes the settings of a study: reads the study, calls `change` to edit the
// settings and the field mask, and writes the result. If somebody else wrote in
// between, it starts again with a new call of `change`. An error from `change`
// ends it.
absl::StatusOr<v1::Study> ChangeSettings(
    Client& client, const std::string& study,
    const std::function<absl::Status(v1::UpdateStudyRequest&)>& change);

// Returns the note for a word of the command line; "-" reads standard input.
absl::StatusOr<std::string> ReadNote(const std::string& word);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_CREATE_H_
