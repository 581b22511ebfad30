// SPDX-License-Identifier: Apache-2.0
//
// File: trial_words.h
//
// How a verb is told which trial: STUDY and NUMBER, or STUDY/NUMBER as one
// word. All verbs about one trial take both.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_WORDS_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_WORDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// Verbs of `frostline trial`, each in the file of its name.

void AddTrialCurves(CLI::App& noun, Invocation& invocation);
void AddTrialEnqueue(CLI::App& noun, Invocation& invocation);
void AddTrialLabel(CLI::App& noun, Invocation& invocation);  // and note
void AddTrialOutcomeRows(CLI::App& noun, Invocation& invocation);
void AddTrialTell(CLI::App& noun, Invocation& invocation);

struct TrialWords {
  std::string study;
  std::string number;
};

// A verb about one trial; it answers REQUEST_INVALID where the words name none.
CLI::App* AddStudyTrial(CLI::App& noun, const std::string& name,
                        const std::string& help, Invocation& invocation,
                        TrialWords& words, Action action);

// "studies/imdb/trials/17". With `more` the verb takes further words: the one
// in NUMBER's place is the first of them where STUDY/NUMBER is one word.
absl::StatusOr<std::string> TrialNameFrom(
    const TrialWords& words, std::vector<std::string>* more = nullptr);

// "studies/imdb" of "studies/imdb/trials/17".
std::string StudyNameOfTrial(const std::string& trial);

// Several trials: STUDY and numbers, or STUDY/NUMBER and either. A number is of
// the study named last.
absl::StatusOr<std::vector<TrialName>> TrialNamesFrom(
    const std::vector<std::string>& words);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_WORDS_H_
