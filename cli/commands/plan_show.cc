// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/plan_show.h"

#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/term/busy_line.h"
#include "cli/view/frontier_view.h"
#include "cli/view/importance_csv.h"
#include "cli/view/plan_view.h"
#include "cli/view/verification_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using PlanStub = v1::ImportanceService::Stub;

constexpr std::size_t kMaxPlanName = 40;  // of a rival

// A call about the plan that is asked for.
template <typename Request>
Request About(const PlanAsked& plan) {
  Request request;
  request.set_study(plan.study);
  *request.mutable_options() = plan.options;
  request.set_tolerance(plan.tolerance);
  return request;
}

// Where it takes long, a person sees that it is under way.
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

// `apply --trial` runs a trial in the plan's place.
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

}  // namespace frostline::cli
