// SPDX-License-Identifier: Apache-2.0
//
// File: command.h
//
// What all commands share. A verb is a row: its noun, its name, its help and a
// function that runs it. The function's parameters are what the verb's options
// fill. To add a verb, write the function and a call of AddVerb():
//
//   absl::StatusOr<ExitCode> Show(Session& session, const ShowArgs& args);
//
//   const auto [show, args] =
//       AddVerb(*noun, "show", "Show one study", invocation, Show);
//   show->add_option("ID", args->id)->required();
#ifndef FROSTLINE_CLI_COMMANDS_COMMAND_H_
#define FROSTLINE_CLI_COMMANDS_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "cli/client/client.h"
#include "cli/context/configuration.h"
#include "cli/context/context_store.h"
#include "cli/term/terminal.h"
#include "cli/view/output.h"
#include "frostline/v1/importance.pb.h"

namespace frostline::cli {

// The state of one run of the program, which each command's action gets.

struct Session {
  Terminal terminal;
  TargetOptions flags;
  TargetOptions environment;
  ContextStore contexts{""};
  // OK when the configuration files are valid; otherwise most verbs refuse to
  // run.
  absl::Status configured;
  Configuration configuration = {};
  bool no_color = false;  // from the flag
  // Both are set by OpenClient().
  Target target;
  std::unique_ptr<Client> client;
};

using Action = std::function<absl::StatusOr<ExitCode>(Session&)>;

// What the command line says: the shared flags and the action to run.
struct Invocation {
  TargetOptions flags;
  bool no_color = false;
  bool no_pager = false;
  Action action;
};

// Adds a command that has verbs.
CLI::App* AddNoun(CLI::App& parent, const std::string& name,
                  const std::string& help);

CLI::App* AddVerb(CLI::App& parent, const std::string& name,
                  const std::string& help, Invocation& invocation,
                  Action action);

// Adds a verb that calls `run`. Returns the verb, and for each parameter of
// `run` behind the session the value that it is called with.
template <typename... Parameters>
std::tuple<CLI::App*, std::decay_t<Parameters>*...> AddVerb(
    CLI::App& parent, const std::string& name, const std::string& help,
    Invocation& invocation,
    absl::StatusOr<ExitCode> (*run)(Session&, Parameters...)) {
  const auto values =
      std::make_shared<std::tuple<std::decay_t<Parameters>...>>();
  const Action action = [values, run](Session& session) {
    return std::apply(
        [&](const auto&... each) { return run(session, each...); }, *values);
  };
  CLI::App* const verb = AddVerb(parent, name, help, invocation, action);
  return std::apply(
      [verb](auto&... each) { return std::make_tuple(verb, &each...); },
      *values);
}

// Returns the command directly below `app` with this name, or null.
const CLI::App* FindCommand(const CLI::App& app, const std::string& name);

// Returns the client for the chosen coordinator. The first call chooses it
// (context_store.h). It does not wait for the coordinator.
absl::StatusOr<Client*> OpenClient(Session& session);
// Does the same, but waits for a coordinator on this machine that is starting.
absl::StatusOr<Client*> Connect(Session& session);

// Checks the name of something new. A bad name is a usage error that says which
// names are allowed.
absl::Status CheckNewName(const std::string& name, const std::string& flag);

// Returns a check that refuses numbers below zero with a clear message.
CLI::Validator AtLeastZero();

// Returns "studies/imdb" for "imdb" and "studies/imdb", otherwise a usage
// error.
absl::StatusOr<std::string> StudyNameFrom(const std::string& argument);

// These functions add the commands of one noun each, from the noun's own file.
// `serve` is added in worker.cc, `up` and `down` in own_coordinator.cc.
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
void AddOwnCoordinatorCommands(CLI::App& app, Invocation& invocation);
void AddImportanceCommand(CLI::App& app, Invocation& invocation);
void AddPlanCommand(CLI::App& app, Invocation& invocation);
void AddCompareCommand(CLI::App& app, Invocation& invocation);
void AddDemoCommand(CLI::App& app, Invocation& invocation);
void AddApplyCommand(CLI::App& app, Invocation& invocation);
void AddRecipeCommands(CLI::App& app, Invocation& invocation);
void AddBaselineCommand(CLI::App& app, Invocation& invocation);
void AddReportCommand(CLI::App& app, Invocation& invocation);
void AddPackageCommands(CLI::App& app, Invocation& invocation);
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

// Returns the error as text: "error[FL-2001]: …", then lines for cause, place
// and fix.
std::string ErrorText(const absl::Status& status);

// Returns the error as JSON: {"error": {"id": "FL-2001", "reason": …, "cause":
// …, "field": …, "fix": …, "exit_code": 3}}
std::string ErrorJson(const absl::Status& status);

// Adds `--format` and `--json`, which means `--format json`. `output` must
// outlive the verb: it is a member of the verb's arguments.
void AddOneFormats(CLI::App* verb,
                   Output& output);  // table json jsonl yaml name
// Does the same for lists, with wide, csv, `--columns` and `--sort` in
// addition.
void AddListFormats(CLI::App* verb, Output& output);

// Adds `--format` with these, `--json` and `-o FILE`, whose ending says the
// format when nothing else does.
void AddFileFormats(CLI::App* verb, Output& output,
                    const std::vector<std::string>& names);

// Adds `--format` with these alone, in any case.
CLI::Option* AddFewFormats(CLI::App* verb, Output& output,
                           const std::vector<std::string>& names);

// Adds `--wide`, the older spelling of `--format wide`.
void AddWide(CLI::App* verb, Output& output, const std::string& help);

// Returns whether a command line asks for JSON, even if it is wrong otherwise.
// Errors are then JSON too.
bool AsksForJson(const std::vector<std::string>& arguments);
// Keeps standard error free of anything but errors from now on
// (client/client.h).
void LeaveNotesOut();

struct QuestionFlags {
  std::string evaluator;
  std::string target;
  bool maximize = false;
  std::string top;
  std::string best_by;
  std::int64_t at_step = 0;
  std::string filter;
  std::uint64_t seed = 0;

  void AddTo(CLI::App& verb);
  // Returns REQUEST_INVALID when --top is not a share.
  absl::StatusOr<v1::ImportanceOptions> Options() const;
};

// Parses "10%" or "0.1". The value must be above 0 and at most 1.
absl::StatusOr<double> ParseShare(const std::string& text);

// Splits names at commas. Returns REQUEST_INVALID when one is empty.
absl::StatusOr<v1::ParameterSubset> ParseSubset(const std::string& names);

// Changes an error about a flag that only the coordinator could notice into a
// usage error (exit code 2) instead of an error about a file.
absl::Status AsUsage(const absl::Status& status);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_COMMAND_H_
