// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_report.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/importance.h"
#include "cli/demo/demo_plan.h"
#include "cli/demo/demo_recipe.h"
#include "cli/term/terminal.h"
#include "cli/view/frontier_view.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/trial_view.h"
#include "cli/view/verification_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// Of a study without a result: what went wrong, as one trial tells it.
absl::Status ShowCause(Client& client, const std::string& study) {
  v1::ListTrialsRequest request;
  request.set_parent(study);
  request.set_filter("state = FAILED");
  request.set_page_size(1);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                   client.Call(&v1::StudyService::Stub::ListTrials, request));
  for (const v1::Trial& trial : page.trials()) {
    std::cout << "\ntrial " << trial.number() << " has failed: "
              << proto::CleanText(trial.cause(), proto::kMaxCauseBytes) << "\n";
  }
  return absl::OkStatus();
}

void ShowBest(const v1::Trial& best, const v1::Study& study, int width) {
  std::cout << "\nbest trial " << best.number() << ": "
            << ObjectiveText(best, study.spec()) << "\n"
            << Sentence("  its rates", RatesInShort(best.rates()), width);
}

// Whether it is an answer that few or equal trials cannot give.
bool IsTooFew(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kTrialsTooFew) ||
         HasErrorId(status, ErrorId::kTargetConstant);
}

// False when there are too few trials, which it then says.
absl::StatusOr<bool> ShowImportance(Client& client, const v1::Study& study,
                                    int width) {
  Asked asked;
  asked.client = &client;
  asked.study = study.name();
  const auto report = Fetch(asked, &v1::ImportanceService::Stub::GetReport);
  if (IsTooFew(report.status())) {
    std::cout << "\nno importance: " << report.status().message() << '\n'
              << std::flush;
    return false;
  }
  RETURN_IF_ERROR(report.status());
  ASSIGN_OR_RETURN(const auto frontier, FetchFrontier(asked, *report));
  const std::string head = frontier.has_value()
                               ? RenderFrontierInShort(*frontier, width) + "\n"
                               : "";
  std::cout << "\n" << RenderImportance(*report, head, width) << std::flush;
  return true;
}

}  // namespace

absl::StatusOr<std::optional<v1::FreezePlan>> ReportDemo(Client& client,
                                                         const v1::Study& study,
                                                         int width) {
  std::optional<v1::FreezePlan> none;
  ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
  if (!best.has_value()) {
    RETURN_IF_ERROR(ShowCause(client, study.name()));
    return none;
  }
  ShowBest(*best, study, width);
  ASSIGN_OR_RETURN(const bool has_importance,
                   ShowImportance(client, study, width));
  if (!has_importance) return none;
  v1::GetPlanRequest request;
  request.set_study(study.name());
  absl::StatusOr<v1::FreezePlan> plan =
      client.Call(&v1::ImportanceService::Stub::GetPlan, request);
  if (IsTooFew(plan.status())) return none;
  RETURN_IF_ERROR(plan.status());
  std::cout << "\n" << RenderFreezePlanInShort(*plan, width) << std::flush;
  return std::optional<v1::FreezePlan>(*std::move(plan));
}

absl::Status WriteNext(const v1::FreezePlan& plan, const std::string& folder) {
  const std::string file = absl::StrCat(folder, "/next.yaml");
  std::ofstream stream(file);
  stream << NextStudyFile(kDemoRecipe, kNextStudy, plan);
  stream.close();
  if (stream) return absl::OkStatus();
  const int error = errno;
  const std::string cause =
      absl::StrCat(file, " cannot be written: ", std::strerror(error));
  return DiskErrorOr(
      error, cause,
      MakeError(ErrorId::kStoreUnwritable, cause,
                "name a folder you may write to with --dir DIR"));
}

}  // namespace frostline::cli
