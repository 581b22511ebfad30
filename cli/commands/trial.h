// SPDX-License-Identifier: Apache-2.0
//
// File: trial.h
//
// How the command line names a trial: STUDY and NUMBER, or STUDY/NUMBER as one
// word. All verbs about one trial accept both.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "cli/commands/command.h"

namespace frostline::cli {

// The verbs of `frostline trial`, each defined in the file of its name.

void AddTrialCurves(CLI::App& noun, Invocation& invocation);
void AddTrialEnqueue(CLI::App& noun, Invocation& invocation);
void AddTrialLabel(CLI::App& noun, Invocation& invocation);  // and note
void AddTrialOutcomeRows(CLI::App& noun, Invocation& invocation);
void AddTrialTell(CLI::App& noun, Invocation& invocation);

// The words of a command line that name a trial.
struct TrialWords {
  std::string study;
  std::string number;
};

void AddTrialWords(CLI::App& verb, TrialWords& words);

// Adds a verb about one trial, whose arguments have a `trial`. The verb returns
// REQUEST_INVALID when its words name no trial.
template <typename Args>
std::tuple<CLI::App*, Args*> AddTrialVerb(
    CLI::App& noun, const std::string& name, const std::string& help,
    Invocation& invocation,
    absl::StatusOr<ExitCode> (*run)(Session&, const Args&)) {
  const auto added = AddVerb(noun, name, help, invocation, run);
  AddTrialWords(*std::get<0>(added), std::get<1>(added)->trial);
  return added;
}

// Returns the name of the trial, such as "studies/imdb/trials/17". With `more`
// the verb takes further words; if the first word is STUDY/NUMBER, the word in
// the place of NUMBER is the first of them.
absl::StatusOr<std::string> TrialNameFrom(
    const TrialWords& words, std::vector<std::string>* more = nullptr);

// Returns "studies/imdb" for "studies/imdb/trials/17".
std::string StudyNameOfTrial(const std::string& trial);

// Parses several trials: STUDY followed by numbers, or STUDY/NUMBER followed by
// more of either form. A number belongs to the study named last.
absl::StatusOr<std::vector<TrialName>> TrialNamesFrom(
    const std::vector<std::string>& words);

// The verb `frostline trial log`.

struct TrialLogArgs {
  TrialWords trial;
  std::int64_t attempt = 0;  // 0: the newest
  bool follow = false;
  bool json = false;
};

// Prints the log to standard output and remarks about it to standard error.
absl::StatusOr<ExitCode> ShowLog(Session& session, const TrialLogArgs& args);

// Prints new lines of the log until the trial, or the requested attempt, has
// ended. If the coordinator is away, it tries again for ten minutes.
absl::StatusOr<ExitCode> FollowLog(Session& session, const TrialLogArgs& args);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_H_
