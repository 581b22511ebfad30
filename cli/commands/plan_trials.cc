// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/plan.h"
#include "cli/view/format.h"

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

}  // namespace frostline::cli
