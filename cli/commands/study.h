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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_STUDY_H_
