// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <limits>

#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/trial_compare.h"
#include "cli/commands/trial_list.h"
#include "cli/commands/trial_log.h"
#include "cli/commands/trial_outcomes.h"
#include "cli/commands/trial_verbs.h"
#include "cli/commands/trial_words.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostShownTrials = 1'000'000'000;

struct TrialArgs {
  TrialWords trial;
  std::string reason;
  bool from_checkpoint = false;
  std::uint64_t seed = 0;  // 0: what the trial trained with
  Output output;
};

absl::StatusOr<ExitCode> ShowTrial(Session& session, const TrialArgs& args) {
  v1::GetTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::GetTrial, request));
  v1::Study study;
  const bool for_people = args.output.format == Format::kTable;
  if (for_people) {
    ASSIGN_OR_RETURN(study,
                     FetchStudy(*client, StudyNameOfTrial(request.name())));
  }
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, trial,
                           [&] { return RenderTrial(trial, study.spec()); }));
  return kExitOk;
}

absl::StatusOr<ExitCode> CancelOne(Session& session, const TrialArgs& args) {
  v1::CancelTrialRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_reason(args.reason);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::CancelTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> RetryOne(Session& session, const TrialArgs& args) {
  v1::RetryTrialRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_from_checkpoint(args.from_checkpoint);
  request.set_seed(args.seed);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::RetryTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

CLI::App* AddTrialVerb(CLI::App& noun, Invocation& invocation,
                       const std::shared_ptr<TrialArgs>& args,
                       const std::string& name, const std::string& help,
                       absl::StatusOr<ExitCode> (*verb)(Session&,
                                                        const TrialArgs&)) {
  return AddStudyTrial(
      noun, name, help, invocation, args->trial,
      [args, verb](Session& session) { return verb(session, *args); });
}

void AddLog(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialLogArgs>();
  CLI::App* const log = AddStudyTrial(
      noun, "log", "Print the last lines of a trial's log", invocation,
      args->trial,
      [args](Session& session) { return ShowLog(session, *args); });
  log->add_option("--attempt", args->attempt, "Not of the newest attempt")
      ->check(CLI::Range(std::int64_t{1}, kMostShownTrials));
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
  AddOneFormats(
      AddTrialVerb(*noun, invocation, args, "show",
                   "Show one trial: rates, metrics, attempts", ShowTrial),
      args->output);
  AddTrialCompare(*noun, invocation);
  AddTrialOutcomes(*noun, invocation);
  AddTrialCurves(*noun, invocation);
  AddTrialEnqueue(*noun, invocation);
  AddTrialLabel(*noun, invocation);
  AddTrialOutcomeRows(*noun, invocation);
  AddTrialTell(*noun, invocation);
  AddLog(*noun, invocation);
  AddTrialVerb(*noun, invocation, args, "cancel", "Cancel one trial", CancelOne)
      ->add_option("--reason", args->reason, "For people");
  CLI::App* const retry = AddTrialVerb(
      *noun, invocation, args, "retry",
      "Run an ended trial's point again, as a new trial", RetryOne);
  CLI::Option* const from_checkpoint =
      retry->add_flag("--from-checkpoint", args->from_checkpoint,
                      "Go on from its last checkpoint");
  retry
      ->add_option("--seed", args->seed,
                   "Train with this seed; else with the trial's own")
      ->check(CLI::Range(std::uint64_t{1},
                         std::numeric_limits<std::uint64_t>::max()))
      ->excludes(from_checkpoint);
}

}  // namespace frostline::cli
