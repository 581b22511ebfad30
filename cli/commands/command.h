// SPDX-License-Identifier: Apache-2.0
//
// File: command.h
//
// main.cc runs a verb's action when everything is parsed:
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "cli/client/client.h"
#include "cli/context/configuration.h"
#include "cli/context/context_store.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

struct Session {
  Terminal terminal;
  Wish flags;
  Wish environment;
  ContextStore contexts{""};
  // OK where the files say what they may; else most verbs are not begun.
  absl::Status configured;
  Configuration configuration = {};
  bool no_color = false;  // as a flag said
  // OpenClient() chooses and opens them.
  Target target;
  std::unique_ptr<Client> client;
};

using Action = std::function<absl::StatusOr<ExitCode>(Session&)>;

struct Invocation {
  Wish flags;
  bool no_color = false;
  bool no_pager = false;
  Action action;
};

CLI::App* AddVerb(CLI::App& parent, const std::string& name,
                  const std::string& help, Invocation& invocation,
                  Action action);

// Looks right below `app`; null means none.
const CLI::App* FindCommand(const CLI::App& app, const std::string& name);

// Chooses the coordinator at the first call (context_store.h), and does not
// wait.
absl::StatusOr<Client*> OpenClient(Session& session);
// The same, but waits for a coordinator on this machine that is just starting.
absl::StatusOr<Client*> Connect(Session& session);

// Who names what is to be made is told what a name may be: a usage error.
absl::Status CheckNewName(const std::string& name, const std::string& flag);

// Refuses numbers below zero in words.
CLI::Validator AtLeastZero();

// Makes "studies/imdb" of "imdb" or "studies/imdb", else a usage error.
absl::StatusOr<std::string> StudyNameFrom(const std::string& argument);

absl::StatusOr<v1::Study> FetchStudy(Client& client, const std::string& name);

// Fetches the best trial, or with several objectives all that none dominates.
absl::StatusOr<v1::ListBestTrialsReply> FetchBestTrials(
    Client& client, const std::string& study);

// Asks for the FULL view; with several objectives it is the first of them.
absl::StatusOr<std::optional<v1::Trial>> FetchBest(Client& client,
                                                   const v1::Study& study);

absl::StatusOr<v1::ListWorkersReply> FetchWorkers(Client& client);
absl::StatusOr<v1::ListTokensReply> FetchTokens(Client& client);

// Each noun has one in its own file; worker.cc has that of `serve`.
void AddStudyCommands(CLI::App& app, Invocation& invocation);
void AddTrialCommands(CLI::App& app, Invocation& invocation);
void AddModelCommands(CLI::App& app, Invocation& invocation);
void AddWorkerCommands(CLI::App& app, Invocation& invocation);
void AddStatusCommand(CLI::App& app, Invocation& invocation);
void AddRegistryCommands(CLI::App& app, Invocation& invocation);
void AddPredictCommand(CLI::App& app, Invocation& invocation);
void AddCacheCommands(CLI::App& app, Invocation& invocation);
void AddInitCommand(CLI::App& app, Invocation& invocation);
void AddTokenCommands(CLI::App& app, Invocation& invocation);
void AddWhoAmICommand(CLI::App& app, Invocation& invocation);
void AddTlsCommands(CLI::App& app, Invocation& invocation);
void AddLoginCommands(CLI::App& app, Invocation& invocation);
void AddConfigCommands(CLI::App& app, Invocation& invocation);
void AddContextCommands(CLI::App& app, Invocation& invocation);
void AddCertificateCommands(CLI::App& app, Invocation& invocation);
void AddAuditCommands(CLI::App& app, Invocation& invocation);
void AddBackupCommand(CLI::App& app, Invocation& invocation);
void AddServeCommand(CLI::App& app, Invocation& invocation);
void AddImportanceCommand(CLI::App& app, Invocation& invocation);
void AddPlanCommand(CLI::App& app, Invocation& invocation);
void AddCompareCommand(CLI::App& app, Invocation& invocation);
void AddDemoCommand(CLI::App& app, Invocation& invocation);
void AddApplyCommand(CLI::App& app, Invocation& invocation);
void AddRecipeCommands(CLI::App& app, Invocation& invocation);
void AddReportCommand(CLI::App& app, Invocation& invocation);
void AddTopCommand(CLI::App& app, Invocation& invocation);
void AddEventsCommand(CLI::App& app, Invocation& invocation);
void AddRpcCommand(CLI::App& app, Invocation& invocation);
void AddSchemaCommand(CLI::App& app, Invocation& invocation);
void AddExplainCommand(CLI::App& app, Invocation& invocation);
void AddHelpCommands(CLI::App& app, Invocation& invocation);
void AddCompletionCommands(CLI::App& app, Invocation& invocation);

void AddWorkerAccess(CLI::App& noun, Invocation& invocation);
void AddStudyBest(CLI::App& noun, Invocation& invocation);
void AddStudyCreate(CLI::App& noun, Invocation& invocation);
void AddStudyHistory(CLI::App& noun, Invocation& invocation);
void AddStudyUpdate(CLI::App& noun, Invocation& invocation);
void AddStudyWatch(CLI::App& noun, Invocation& invocation);

// "error[FL-2001]: …", then because, at and fix in lines of their own.
std::string ErrorText(const absl::Status& status);

// {"error": {"id": "FL-2001", "reason": …, "cause": …, "field": …, "fix": …,
// "exit_code": 3}}
std::string ErrorJson(const absl::Status& status);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_COMMAND_H_
