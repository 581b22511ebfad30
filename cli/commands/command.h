// SPDX-License-Identifier: Apache-2.0
//
// File: command.h
//
// What the commands share. A noun is a file with one function, which adds its
// verbs; a verb parses into a struct of its own and leaves an action, which
// main.cc runs when everything is parsed.
//
//   CLI::App* show = AddVerb(noun, "show", "Show one study", invocation,
//                            [args](Session& session) { return Show(...); });
//   show->add_option("ID", args->id)->required();
#ifndef FROSTLINE_CLI_COMMANDS_COMMAND_H_
#define FROSTLINE_CLI_COMMANDS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/exit_code.h"
#include "cli/client/client.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

struct Session {
  Terminal terminal;
  std::string connect;
  // Opened by Connect(); null before.
  std::unique_ptr<Client> client;
};

using Action = std::function<absl::StatusOr<ExitCode>(Session&)>;

struct Invocation {
  std::string connect = "127.0.0.1:7070";
  bool no_color = false;
  Action action;
};

CLI::App* AddVerb(CLI::App& parent, const std::string& name,
                  const std::string& help, Invocation& invocation,
                  Action action);

// Right below `app`; null when there is none.
const CLI::App* FindCommand(const CLI::App& app, const std::string& name);

// Opens the session's client at the first call.
absl::StatusOr<Client*> Connect(Session& session);

// "studies/imdb" from "imdb" or "studies/imdb"; else a usage error.
absl::StatusOr<std::string> StudyNameFrom(const std::string& argument);

absl::StatusOr<v1::Study> FetchStudy(Client& client, const std::string& name);

// The FULL view.
absl::StatusOr<std::optional<v1::Trial>> FetchBest(Client& client,
                                                   const v1::Study& study);

// One for each noun, in the file of its name.
void AddStudyCommands(CLI::App& app, Invocation& invocation);
void AddTrialCommands(CLI::App& app, Invocation& invocation);
void AddWorkerCommands(CLI::App& app, Invocation& invocation);
void AddBackupCommand(CLI::App& app, Invocation& invocation);
void AddServeCommand(CLI::App& app, Invocation& invocation);
void AddImportanceCommand(CLI::App& app, Invocation& invocation);
void AddPlanCommand(CLI::App& app, Invocation& invocation);
void AddCompareCommand(CLI::App& app, Invocation& invocation);
void AddDemoCommand(CLI::App& app, Invocation& invocation);
void AddHelpCommands(CLI::App& app, Invocation& invocation);

void AddStudyCreate(CLI::App& noun, Invocation& invocation);
void AddStudyWatch(CLI::App& noun, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_COMMAND_H_
