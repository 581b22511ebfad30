// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/plan.h"

#include <cmath>
#include <iostream>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/importance.h"
#include "cli/term/terminal.h"
#include "cli/view/format.h"
#include "cli/view/importance_text.h"
#include "cli/view/plan_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr Duration kPlanPollInterval = std::chrono::milliseconds(500);

absl::StatusOr<v1::PlanVerification> FetchPlanTrials(Client& client,
                                                     const std::string& study) {
  v1::GetPlanVerificationRequest request;
  request.set_study(study);
  return client.Call(&v1::ImportanceService::Stub::GetPlanVerification,
                     request);
}

}  // namespace

absl::StatusOr<v1::EnqueueTrialsReply> EnqueuePlanned(
    Client& client, const std::string& study,
    const std::vector<v1::EnqueuedTrial>& trials) {
  v1::EnqueueTrialsRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(study);
  request.set_raise_budget(true);
  for (const v1::EnqueuedTrial& trial : trials) {
    *request.add_trials() = trial;
  }
  return client.Call(&v1::StudyService::Stub::EnqueueTrials, request);
}

std::string EnqueuedText(const v1::EnqueueTrialsReply& reply) {
  const int count = reply.trials_size();
  if (count == 0) return "nothing to enqueue";
  std::string text =
      count == 1 ? absl::StrCat("enqueued trial ", reply.trials(0).number())
                 : absl::StrCat("enqueued trials ", reply.trials(0).number(),
                                " to ", reply.trials(count - 1).number());
  if (reply.budget_raised_by() > 0) {
    absl::StrAppend(&text, "; the budget was raised by ",
                    FormatCount(reply.budget_raised_by()), " to ",
                    FormatCount(reply.budget()));
  }
  return text;
}

absl::StatusOr<v1::EnqueueTrialsReply> EnqueueRivals(Client& client,
                                                     const PlanAsked& plan,
                                                     int seeds) {
  v1::GetPlanRivalsRequest request;
  request.set_study(plan.study);
  *request.mutable_options() = plan.options;
  request.set_tolerance(plan.tolerance);
  request.set_seeds(seeds);
  ASSIGN_OR_RETURN(
      const v1::GetPlanRivalsReply rivals,
      client.Call(&v1::ImportanceService::Stub::GetPlanRivals, request));
  return EnqueuePlanned(client, plan.study,
                        {rivals.trials().begin(), rivals.trials().end()});
}

absl::StatusOr<std::optional<v1::PlanVerification>> FetchVerification(
    Client& client, const std::string& study) {
  absl::StatusOr<v1::PlanVerification> found = FetchPlanTrials(client, study);
  if (HasErrorId(found.status(), ErrorId::kTrialNotFound)) {
    return std::optional<v1::PlanVerification>();
  }
  RETURN_IF_ERROR(found.status());
  return std::optional<v1::PlanVerification>(*std::move(found));
}

absl::StatusOr<v1::PlanVerification> AwaitVerification(
    Client& client, const std::string& study, StopSignals& signals,
    const std::function<absl::Status(const v1::PlanVerification&)>& look) {
  while (true) {
    ASSIGN_OR_RETURN(v1::PlanVerification verification,
                     FetchPlanTrials(client, study));
    if (verification.ended() >= verification.total()) return verification;
    RETURN_IF_ERROR(look(verification));
    RETURN_IF_ERROR(signals.Pause(kPlanPollInterval));
  }
}

namespace {

using PlanStub = v1::ImportanceService::Stub;

constexpr std::size_t kMaxPlanName = 40;  // of a rival

// Returns a request about the plan that is asked for.
template <typename Request>
Request About(const PlanAsked& plan) {
  Request request;
  request.set_study(plan.study);
  *request.mutable_options() = plan.options;
  request.set_tolerance(plan.tolerance);
  return request;
}

// Makes a call and shows on a terminal that a slow one is under way.
template <typename Method, typename Request>
auto Busily(Client& client, const PlanAsked& plan, Method method,
            const Request& request) {
  const BusyLine busy(plan.terminal, "planning");
  return client.Call(method, request);
}

absl::Status ShowAnswer(const PlanArgs& args,
                        const google::protobuf::Message& message,
                        const std::string& text, const std::string& csv) {
  const std::string format = args.output.Format();
  return args.output.Write(IsForMessages(format) ? InFormat(format, message)
                           : format == "csv"     ? csv
                                                 : text);
}

absl::Status EnqueuePlan(Client& client, const PlanAsked& plan,
                         const std::vector<v1::EnqueuedTrial>& trials) {
  ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                   EnqueuePlanned(client, plan.study, trials));
  std::cerr << EnqueuedText(reply) << "\n";
  return absl::OkStatus();
}

// Returns what was verified; `apply --trial` runs a trial in the plan's place.
std::string WhatWasVerified(const v1::PlanVerification& found) {
  const std::string name = found.rivals().empty() ? "" : found.rivals(0).name();
  if (name.empty() || name == "plan") {
    return "of the plan as it was; --anew verifies it as it is now";
  }
  return absl::StrCat("of ", proto::CleanText(name, kMaxPlanName),
                      ", which was applied; --anew verifies the plan");
}

}  // namespace

absl::Status ShowPlan(Client& client, const PlanArgs& args,
                      const PlanAsked& plan, int width) {
  ASSIGN_OR_RETURN(const v1::FreezePlan answer,
                   Busily(client, plan, &PlanStub::GetPlan,
                          About<v1::GetPlanRequest>(plan)));
  RETURN_IF_ERROR(ShowAnswer(args, answer, RenderFreezePlan(answer, width),
                             PlanCsv(answer)));
  if (!args.enqueue) return absl::OkStatus();
  return EnqueuePlan(client, plan, {answer.as_trial()});
}

absl::Status ShowFrontier(Client& client, const PlanArgs& args,
                          const PlanAsked& plan, int width) {
  ASSIGN_OR_RETURN(const v1::Frontier answer,
                   Busily(client, plan, &PlanStub::GetFrontier,
                          About<v1::GetFrontierRequest>(plan)));
  if (args.output.Format() == "svg") {
    return args.output.Write(FrontierSvg(answer));
  }
  return ShowAnswer(args, answer, RenderFrontier(answer, width),
                    FrontierCsv(answer));
}

absl::Status ShowAsked(Client& client, const PlanArgs& args,
                       const PlanAsked& plan, int width) {
  auto request = About<v1::AskPlanRequest>(plan);
  request.set_trials(args.ask);
  ASSIGN_OR_RETURN(const v1::AskPlanReply answer,
                   Busily(client, plan, &PlanStub::AskPlan, request));
  RETURN_IF_ERROR(
      ShowAnswer(args, answer, RenderAsked(answer, width), AskedCsv(answer)));
  if (!args.enqueue) return absl::OkStatus();
  std::vector<v1::EnqueuedTrial> trials;
  for (const v1::AskedTrial& asked : answer.trials()) {
    trials.push_back(asked.as_trial());
  }
  return EnqueuePlan(client, plan, trials);
}

absl::Status ShowVerification(Session& session, Client& client,
                              const PlanArgs& args, const PlanAsked& plan,
                              int width, StopSignals* signals) {
  ASSIGN_OR_RETURN(auto found, FetchVerification(client, plan.study));
  if (args.anew || !found.has_value()) {
    ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                     EnqueueRivals(client, plan, args.seeds));
    std::cerr << EnqueuedText(reply) << "\n";
    ASSIGN_OR_RETURN(found, FetchVerification(client, plan.study));
    if (!found.has_value()) {
      return MakeError(ErrorId::kTrialNotFound,
                       "the trials that were enqueued are gone",
                       "see whether somebody has deleted the study");
    }
  } else {
    std::cerr << WhatWasVerified(*found) << "\n";
  }
  if (signals != nullptr) {
    StatusLine line(session.terminal);
    ASSIGN_OR_RETURN(
        found, AwaitVerification(client, plan.study, *signals,
                                 [&line](const v1::PlanVerification& so_far) {
                                   line.Show(absl::StrCat(
                                       so_far.ended(), "/", so_far.total(),
                                       " trials have ended"));
                                   return absl::OkStatus();
                                 }));
  }
  return ShowAnswer(args, *found, RenderVerification(*found, width),
                    VerificationCsv(*found));
}

namespace {

constexpr int kMostAsked = 64;  // as the contract says
constexpr int kMostPlanSeeds = 32;

// Checks what CLI11 cannot check and what needs no coordinator.
absl::Status CheckArgs(const PlanArgs& args) {
  if (!std::isfinite(args.tolerance)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", args.tolerance),
                     "give a part of the score, 0 or more");
  }
  if (args.output.Format() == "svg" && !args.frontier) {
    return MakeError(ErrorId::kRequestInvalid, "there is no picture of that",
                     "use --frontier, or another format");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Plan(Session& session, const PlanArgs& args) {
  RETURN_IF_ERROR(CheckArgs(args));
  PlanAsked plan;
  ASSIGN_OR_RETURN(plan.study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(plan.options, args.question.Options());
  plan.tolerance = args.tolerance;
  plan.terminal = session.terminal;
  std::optional<StopSignals> signals;  // before the client has threads
  if (args.wait) signals.emplace();
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  const absl::Status shown =
      args.frontier  ? ShowFrontier(*client, args, plan, width)
      : args.ask > 0 ? ShowAsked(*client, args, plan, width)
      : args.verify  ? ShowVerification(session, *client, args, plan, width,
                                       signals ? &*signals : nullptr)
                     : ShowPlan(*client, args, plan, width);
  RETURN_IF_ERROR(AsUsage(HelpEndedStudy(*client, plan.study, shown)));
  return kExitOk;
}

void AddPlanFlags(CLI::App& verb, PlanArgs& args) {
  CLI::Option* const frontier = verb.add_flag(
      "--frontier", args.frontier, "The least to train, by how much it is");
  CLI::Option* const ask =
      verb.add_option("--ask", args.ask,
                      "The so many trials that would tell most")
          ->check(CLI::Range(1, kMostAsked))
          ->excludes(frontier);
  CLI::Option* const verify =
      verb.add_flag("--verify", args.verify,
                    "Run the plan and its rivals; then predicted and seen")
          ->excludes(frontier)
          ->excludes(ask);
  verb.add_option("--seeds", args.seeds, "Each rival's runs")
      ->check(CLI::Range(1, kMostPlanSeeds))
      ->needs(verify)
      ->capture_default_str();
  verb.add_flag("--wait", args.wait, "Until all of them have ended")
      ->needs(verify);
  verb.add_flag("--anew", args.anew, "Even where a plan was verified before")
      ->needs(verify);
  verb.add_flag("--enqueue", args.enqueue,
                "Have the study run the plan, or with --ask those trials")
      ->excludes(frontier)
      ->excludes(verify);
}

}  // namespace

void AddPlanCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<PlanArgs>();
  CLI::App* const verb = AddVerb(
      app, "plan", "What to freeze, and at which rate to train the rest",
      invocation, [args](Session& session) { return Plan(session, *args); });
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score freezing may cost [0; of --frontier "
                   "the noise of one run]")
      ->check(AtLeastZero());
  AddPlanFlags(*verb, *args);
  args->question.AddTo(*verb);
  args->output.AddTo(*verb, {"table", "json", "jsonl", "yaml", "csv", "svg"});
}

}  // namespace frostline::cli
