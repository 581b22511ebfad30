// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/trial_compare.h"
#include "cli/commands/trial_list.h"
#include "cli/commands/trial_log.h"
#include "cli/commands/trial_outcomes.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostTrials = 1'000'000'000;

struct TrialArgs {
  std::string study;
  std::int64_t number = 0;
  std::string reason;
  bool from_checkpoint = false;
  Output output;
};

absl::StatusOr<ExitCode> Show(Session& session, const TrialArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::GetTrialRequest request;
  request.set_name(absl::StrCat(name, "/trials/", args.number));
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::GetTrial, request));
  v1::Study study;
  const bool for_people = args.output.format == Format::kTable;
  if (for_people) {
    ASSIGN_OR_RETURN(study, FetchStudy(*client, name));
  }
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, trial,
                           [&] { return RenderTrial(trial, study.spec()); }));
  return kExitOk;
}

std::string TrialNameFrom(const std::string& study, std::int64_t number) {
  return absl::StrCat(study, "/trials/", number);
}

absl::StatusOr<ExitCode> CancelOne(Session& session, const TrialArgs& args) {
  ASSIGN_OR_RETURN(const std::string study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::CancelTrialRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(TrialNameFrom(study, args.number));
  request.set_reason(args.reason);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::CancelTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> RetryOne(Session& session, const TrialArgs& args) {
  ASSIGN_OR_RETURN(const std::string study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::RetryTrialRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(TrialNameFrom(study, args.number));
  request.set_from_checkpoint(args.from_checkpoint);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::RetryTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

// A verb about one trial, with STUDY and NUMBER.
CLI::App* AddTrialVerb(CLI::App& noun, Invocation& invocation,
                       const std::shared_ptr<TrialArgs>& args,
                       const std::string& name, const std::string& help,
                       absl::StatusOr<ExitCode> (*verb)(Session&,
                                                        const TrialArgs&)) {
  CLI::App* const added =
      AddVerb(noun, name, help, invocation,
              [args, verb](Session& session) { return verb(session, *args); });
  added->add_option("STUDY", args->study, "The study")->required();
  added->add_option("NUMBER", args->number, "The trial's number")
      ->required()
      ->check(CLI::Range(std::int64_t{0}, kMostTrials));
  return added;
}

void AddLog(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialLogArgs>();
  CLI::App* const log =
      AddVerb(noun, "log", "Print the last lines of a trial's log", invocation,
              [args](Session& session) { return ShowLog(session, *args); });
  log->add_option("STUDY", args->study, "The study")->required();
  log->add_option("NUMBER", args->number, "The trial's number")
      ->required()
      ->check(CLI::Range(std::int64_t{0}, kMostTrials));
  log->add_option("--attempt", args->attempt, "Not of the newest attempt")
      ->check(CLI::Range(std::int64_t{1}, kMostTrials));
  log->add_flag("-f,--follow", args->follow,
                "Print new lines as they come, until the trial has ended");
  log->add_flag("--json", args->json,
                "The lines and where all of the log lies, as JSON; with "
                "--follow an object a line");
}

}  // namespace

void AddTrialCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "trial", "List, show, compare, cancel and retry trials");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<TrialArgs>();
  AddTrialList(*noun, invocation);
  AddOneFormats(AddTrialVerb(*noun, invocation, args, "show",
                             "Show one trial: rates, metrics, attempts", Show),
                args->output);
  AddTrialCompare(*noun, invocation);
  AddTrialOutcomes(*noun, invocation);
  AddLog(*noun, invocation);
  AddTrialVerb(*noun, invocation, args, "cancel", "Cancel one trial", CancelOne)
      ->add_option("--reason", args->reason, "For people");
  AddTrialVerb(*noun, invocation, args, "retry",
               "Run an ended trial's point again, as a new trial", RetryOne)
      ->add_flag("--from-checkpoint", args->from_checkpoint,
                 "Go on from its last checkpoint");
}

}  // namespace frostline::cli
