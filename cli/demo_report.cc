// SPDX-License-Identifier: Apache-2.0
#include "cli/demo_report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/demo_plan.h"
#include "cli/demo_recipe.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline {
namespace {

constexpr char kNextStudy[] = "demo-next";

// One word for a shell, whatever is in the path.
std::string ShellWord(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
           absl::StrContains("/._-+", absl::string_view(&c, 1));
  });
  if (plain) return path;
  return absl::StrCat("'", absl::StrReplaceAll(path, {{"'", "'\\''"}}), "'");
}

// As it is typed from here.
std::string CommandName() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "frostline";
  const std::string near = std::filesystem::proximate(path, error).string();
  return error || absl::StartsWith(near, "..") ? path.string() : near;
}

// A plan, the study file that tries it, and how to run that.
absl::Status ShowNext(Client& client, const v1::Study& study,
                      const std::string& folder, int width) {
  v1::GetPlanRequest request;
  request.set_study(study.name());
  ASSIGN_OR_RETURN(v1::FreezePlan plan,
                   client.Call(&v1::ImportanceService::Stub::GetPlan, request));
  const std::string file = absl::StrCat(folder, "/next.yaml");
  std::ofstream stream(file);
  stream << NextStudyFile(kDemoRecipe, kNextStudy, plan);
  stream.close();
  if (!stream) {
    return MakeError(ErrorId::kStoreUnwritable, file + " cannot be written",
                     "name a folder you may write to with --dir DIR");
  }
  plan.clear_verify();  // the next study does that
  const std::string command = ShellWord(CommandName());
  std::cout << "\nWhat to freeze next, which another study checks:\n\n"
            << RenderFreezePlan(plan, width) << "\nNext, type\n\n"
            << "  " << command << " serve --data " << ShellWord(folder)
            << " &\n"
            << "  " << command << " worker --registry "
            << ShellWord(folder + "/registry") << " --slots 2 &\n"
            << "  " << command << " study create " << ShellWord(file) << "\n\n"
            << "and follow it with `study watch " << kNextStudy
            << "` and `importance " << kNextStudy << "`.\n"
            << std::flush;
  return absl::OkStatus();
}

// Of a study without a result: what went wrong, as one trial tells it.
absl::Status ShowCause(Client& client, const std::string& study) {
  v1::ListTrialsRequest request;
  request.set_parent(study);
  request.set_filter("state = FAILED");
  request.set_page_size(1);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                   client.Call(&v1::StudyService::Stub::ListTrials, request));
  for (const v1::Trial& trial : page.trials()) {
    std::cout << "\ntrial " << trial.number()
              << " has failed: " << CleanText(trial.cause(), kMaxCauseBytes)
              << "\n";
  }
  return absl::OkStatus();
}

void ShowBest(const v1::Trial& best, const v1::Study& study) {
  std::cout << "\nbest trial " << best.number() << ": "
            << ObjectiveText(best, study.spec()) << "\n"
            << RenderRates(best) << "(* frozen)\n";
}

// False when there are too few trials, which it then says.
absl::StatusOr<bool> ShowImportance(Client& client, const v1::Study& study,
                                    int width) {
  v1::GetReportRequest request;
  request.set_study(study.name());
  const auto report =
      client.Call(&v1::ImportanceService::Stub::GetReport, request);
  if (HasErrorId(report.status(), ErrorId::kTrialsTooFew) ||
      HasErrorId(report.status(), ErrorId::kTargetConstant)) {
    std::cout << "\nno importance: " << report.status().message() << '\n'
              << std::flush;
    return false;
  }
  RETURN_IF_ERROR(report.status());
  std::cout << "\n" << RenderImportance(*report, width) << std::flush;
  return true;
}

}  // namespace

absl::Status ReportDemo(Client& client, const v1::Study& study,
                        const std::string& folder, bool with_next, int width) {
  ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
  if (!best.has_value()) return ShowCause(client, study.name());
  ShowBest(*best, study);
  ASSIGN_OR_RETURN(const bool has_importance,
                   ShowImportance(client, study, width));
  if (!with_next || !has_importance) return absl::OkStatus();
  return ShowNext(client, study, folder, width);
}

}  // namespace frostline
