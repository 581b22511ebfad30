// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <limits>
#include <vector>

#include "base/ids.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/commands/trial_compare.h"
#include "cli/commands/trial_log.h"
#include "cli/commands/trial_outcomes.h"
#include "cli/commands/trial_verbs.h"
#include "cli/commands/trial_words.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr int kPageSize = 500;
constexpr std::int64_t kMostTrials = 1'000'000'000;

struct TrialArgs {
  std::string study;
  TrialWords trial;
  std::string state;
  std::int64_t limit = 0;  // 0: all
  std::string reason;
  bool from_checkpoint = false;
  std::uint64_t seed = 0;  // 0: what the trial trained with
  bool best = false;
  bool json = false;
};

std::vector<std::string> StateNames() {
  std::vector<std::string> names;
  for (int i = v1::TrialState_MIN + 1; i <= v1::TrialState_MAX; ++i) {
    names.push_back(NameOf(static_cast<v1::TrialState>(i)));
  }
  return names;
}

absl::StatusOr<v1::ListTrialsReply> FetchTrials(Client& client,
                                                const std::string& study,
                                                const TrialArgs& args) {
  v1::ListTrialsRequest request;
  request.set_parent(study);
  if (!args.state.empty()) request.set_filter("state = " + args.state);
  v1::ListTrialsReply all;
  do {
    const std::int64_t wanted =
        args.limit == 0 ? kPageSize : args.limit - all.trials_size();
    request.set_page_size(
        static_cast<std::int32_t>(std::min<std::int64_t>(wanted, kPageSize)));
    ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                     client.Call(&v1::StudyService::Stub::ListTrials, request));
    all.MergeFrom(page);
    all.clear_next_page_token();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() &&
           (args.limit == 0 || all.trials_size() < args.limit));
  return all;
}

// The best trial or the Pareto set, with --limit as many of the best.
absl::StatusOr<ExitCode> ListBest(Session& session, const TrialArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  v1::ListBestTrialsRequest request;
  request.set_name(name);
  request.set_limit(static_cast<std::int32_t>(args.limit));
  ASSIGN_OR_RETURN(
      const v1::ListBestTrialsReply best,
      client->Call(&v1::StudyService::Stub::ListBestTrials, request));
  const std::vector<v1::Trial> trials(best.trials().begin(),
                                      best.trials().end());
  const int width = session.terminal.width;
  if (args.json) {
    std::cout << ToJson(best);
  } else if (trials.empty()) {
    std::cerr << "no trial has succeeded\n";
  } else if (study.spec().objectives_size() > 1 && args.limit == 0) {
    std::cout << RenderFront(trials, study.spec(), width);
  } else {
    std::cout << RenderTrialTable(trials, study.spec(), width);
  }
  if (best.truncated()) std::cerr << "there are more than fit an answer\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> List(Session& session, const TrialArgs& args) {
  if (args.best) return ListBest(session, args);
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  ASSIGN_OR_RETURN(const v1::ListTrialsReply all,
                   FetchTrials(*client, name, args));
  if (args.json) {
    std::cout << ToJson(all);
  } else if (all.trials().empty()) {
    std::cerr << "no such trials\n";
  } else {
    std::cout << RenderTrialTable({all.trials().begin(), all.trials().end()},
                                  study.spec(), session.terminal.width);
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> Show(Session& session, const TrialArgs& args) {
  v1::GetTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::GetTrial, request));
  if (args.json) {
    std::cout << ToJson(trial);
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const v1::Study study,
                   FetchStudy(*client, StudyNameOfTrial(request.name())));
  std::cout << RenderTrial(trial, study.spec());
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
  CLI::App* const list =
      AddVerb(*noun, "list", "List the trials of a study", invocation,
              [args](Session& session) { return List(session, *args); });
  list->add_option("STUDY", args->study, "The study")->required();
  CLI::Option* const state =
      list->add_option("--state", args->state, "Only trials of this state")
          ->transform(CLI::IsMember(StateNames(), CLI::ignore_case));
  list->add_flag("--best", args->best,
                 "The best; with several objectives the Pareto set")
      ->excludes(state);
  list->add_option("--limit", args->limit, "At most so many")
      ->check(CLI::Range(std::int64_t{1}, kMostTrials));
  list->add_flag("--json", args->json, "As JSON: {\"trials\": […]}");
  AddTrialVerb(*noun, invocation, args, "show",
               "Show one trial: rates, metrics, attempts", Show)
      ->add_flag("--json", args->json, "The trial as JSON");
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
