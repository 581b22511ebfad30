// SPDX-License-Identifier: Apache-2.0
//
// File: study.h
//
// The verbs of `frostline study`, each defined in the file of its name.
#ifndef FROSTLINE_CLI_COMMANDS_STUDY_H_
#define FROSTLINE_CLI_COMMANDS_STUDY_H_

#include "cli/commands/command.h"

namespace frostline::cli {

void AddStudyClone(CLI::App& noun, Invocation& invocation);
void AddStudyDelete(CLI::App& noun, Invocation& invocation);
void AddStudyDiff(CLI::App& noun, Invocation& invocation);
void AddStudyExport(CLI::App& noun, Invocation& invocation);
void AddStudyImport(CLI::App& noun, Invocation& invocation);
void AddStudyLabel(CLI::App& noun, Invocation& invocation);  // and note
void AddStudyWait(CLI::App& noun, Invocation& invocation);
void AddStudyWhy(CLI::App& noun, Invocation& invocation);

// Prints why nothing runs, because a user would wait for ever without workers.
// A worker that was started a moment ago gets some seconds to be heard of. If
// there is no answer, nothing is printed.
void SayWhyNothingRuns(Client& client, const std::string& study);

// Gives an error about a study that is not there the nearest one that is, as
// its fix; other errors stay as they are.
absl::Status WithNearestStudy(Session& session, const absl::Status& status);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_H_
