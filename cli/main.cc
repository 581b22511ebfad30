// SPDX-License-Identifier: Apache-2.0
//
// The program frostline. Each noun of its command line is a file of commands/.
// The words `serve` and `worker` do not get there, because they start other
// programs (but `worker list` is a command).
#include <grpc/support/log.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/secret.h"
#include "cli/command_line.h"
#include "cli/commands/command.h"
#include "cli/commands/config.h"
#include "cli/commands/study.h"
#include "cli/doctor/doctor.h"
#include "cli/process/child_process.h"
#include "cli/slurm/slurm_command.h"
#include "tls/credentials.h"

namespace frostline::cli {
namespace {

// Sets up signals so that Ctrl-C ends any command at once with our exit code. A
// command that must clean up blocks the signal (child_process.h).
void EndOnCtrlC() {
  std::signal(SIGINT, [](int) {
    // The prompt goes to a line of its own, behind the terminal's ^C.
    if (isatty(STDERR_FILENO) != 0) (void)!write(STDERR_FILENO, "\n", 1);
    _exit(kExitInterrupted);
  });
  std::signal(SIGPIPE, SIG_DFL);  // `frostline trial list x | head`
  std::signal(SIGXFSZ, SIG_IGN);  // a write then says that it is too much
}

ExitCode Fail(const absl::Status& status, const Terminal& terminal) {
  // Whoever pressed Ctrl-C knows why it ended.
  if (!absl::IsCancelled(status)) {
    const std::string text = ErrorText(status);
    const std::size_t colon = text.find(':');
    std::cerr << Paint(terminal, "1;31", text.substr(0, colon))
              << text.substr(colon) << "\n";
  }
  return ExitCodeOf(status);
}

void AddCommands(CLI::App& app, Invocation& invocation) {
  AddDemoCommand(app, invocation);
  AddInitCommand(app, invocation);
  AddServeCommand(app, invocation);
  AddOwnCoordinatorCommands(app, invocation);
  AddStudyCommands(app, invocation);
  AddTrialCommands(app, invocation);
  AddModelCommands(app, invocation);
  AddImportanceCommand(app, invocation);
  AddPlanCommand(app, invocation);
  AddApplyCommand(app, invocation);
  AddCompareCommand(app, invocation);
  AddRecipeCommands(app, invocation);
  AddBaselineCommand(app, invocation);
  AddReportCommand(app, invocation);
  AddPackageCommands(app, invocation);
  AddWorkerCommands(app, invocation);
  AddSlurmCommands(app, invocation);
  AddStatusCommand(app, invocation);
  AddTopCommand(app, invocation);
  AddEventsCommand(app, invocation);
  AddDoctorCommand(app, invocation);
  AddRegistryCommands(app, invocation);
  AddPredictCommand(app, invocation);
  AddCacheCommands(app, invocation);
  AddBackupCommand(app, invocation);
  AddTokenCommands(app, invocation);
  AddWhoAmICommand(app, invocation);
  AddLoginCommands(app, invocation);
  AddContextCommands(app, invocation);
  AddConfigCommands(app, invocation);
  AddTlsCommands(app, invocation);
  AddCertificateCommands(app, invocation);
  AddAuditCommands(app, invocation);
  AddRpcCommand(app, invocation);
  AddSchemaCommand(app, invocation);
  AddExplainCommand(app, invocation);
  AddHelpCommands(app, invocation);
  AddCompletionCommands(app, invocation);
}

// Prints the error. A script that asked for JSON gets JSON on standard error,
// so that standard output holds the answer or nothing.
ExitCode FailAs(bool json, const absl::Status& status,
                const Terminal& terminal) {
  if (!json || absl::IsCancelled(status)) return Fail(status, terminal);
  std::cerr << ErrorJson(status);
  return ExitCodeOf(status);
}

// Returns whether the command needs valid configuration files. Commands that
// help to find a mistake do not.
bool NeedsConfiguration(const CLI::App& app) {
  const std::vector<std::string> without = {"completion", "config", "doctor",
                                            "help", "version"};
  const auto chosen = app.get_subcommands();
  return !chosen.empty() &&
         std::find(without.begin(), without.end(),
                   chosen.front()->get_name()) == without.end();
}

// Gives the session its configuration and the mistakes in it, after the
// session's flags are set: a file that cannot be read is only a warning when a
// flag or the environment names the coordinator.
void Configure(const Configuration& loaded, bool json, Session& session) {
  session.configuration = loaded;
  session.configured = loaded.wrong;
  std::vector<std::string>& warnings = session.configuration.warnings;
  if (!loaded.unread.ok()) {
    const bool is_told =
        !session.flags.connect.empty() || !session.environment.connect.empty();
    if (is_told) {
      warnings.emplace_back(loaded.unread.message());
    } else {
      session.configured.Update(loaded.unread);
    }
  }
  if (json) return;
  for (const std::string& warning : warnings) {
    std::cerr << "warning: " << warning << "\n";
  }
}

// Returns whether all output was written; a full disk or /dev/full is a
// failure.
bool IsWritten() {
  std::cout << std::flush;
  if (std::cout) return true;
  std::cerr << "error: standard output cannot be written\n";
  return false;
}

ExitCode Main(const std::vector<std::string>& arguments) {
  if (const auto program = OtherProgram(arguments)) {
    return Fail(ExecSibling(program->name, program->arguments),
                DetectTerminal(false));
  }
  EndOnCtrlC();
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  tls::LookAfterIdleConnections();
  CLI::App app("Which layers to train, and how fast.", "frostline");
  Invocation invocation;
  AddCommands(app, invocation);
  AddGlobalOptions(app, invocation);
  TakeDecimalAlone(app);
  const Configuration configuration = LoadConfiguration(PlacesOfUser());
  PassOn(configuration);  // before flags are read
  if (const auto code = AnswerScript(app, arguments)) return *code;
  if (arguments.empty()) {
    std::cout << app.help();
    return IsWritten() ? kExitUsage : kExitFailure;
  }
  const auto parsed = ParseCommandLine(app, arguments);
  Session session;
  session.terminal = DetectTerminal(invocation.no_color);
  if (invocation.no_pager) session.terminal.pages = false;
  const bool json = AsksForJson(arguments);
  if (json) LeaveNotesOut();
  if (!parsed.ok()) return FailAs(json, parsed.status(), session.terminal);
  if (!parsed->empty()) {
    std::cout << *parsed;
    return IsWritten() ? kExitOk : kExitFailure;
  }
  session.no_color = invocation.no_color;
  session.flags = invocation.flags;
  session.environment = TargetOptionsOfEnvironment();
  Configure(configuration, json, session);
  if (!session.configured.ok() && NeedsConfiguration(app)) {
    return FailAs(json, session.configured, session.terminal);
  }
  ApplyConfiguration(app, session);
  session.contexts = ContextStore::OfUser();
  const auto code = invocation.action(session);
  if (!IsWritten()) return kExitFailure;
  if (code.ok()) return *code;
  return FailAs(json, WithNearestStudy(session, code.status()),
                session.terminal);
}

}  // namespace
}  // namespace frostline::cli

int main(int argc, char** argv) {
  frostline::ForbidCoreDumps();
  return frostline::cli::Main({argv + 1, argv + argc});
}
