// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_report.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/importance.h"
#include "cli/commands/plan.h"
#include "cli/demo/demo_registry.h"
#include "cli/term/terminal.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr char kSpace[] = "\nspace:";
constexpr char kLevels[] = "&rates ";

// Returns the levels of the recipe's modules: the text after "&rates ".
std::string LevelsOf(const std::string& recipe) {
  const std::size_t found = recipe.find(kLevels);
  if (found == std::string::npos) return "";
  const std::size_t start = found + sizeof(kLevels) - 1;
  return recipe.substr(start, recipe.find('\n', start) - start);
}

std::vector<v1::PlannedModule> Searched(const v1::FreezePlan& plan) {
  std::vector<v1::PlannedModule> modules;
  for (const v1::PlannedModule& module : plan.modules()) {
    if (module.module() == "pooler" || module.module() == "head") continue;
    modules.push_back(module);
  }
  const auto is_advised = [](const v1::PlannedModule& module) {
    return module.advice() == v1::PLAN_ADVICE_FREEZE;
  };
  if (std::any_of(modules.begin(), modules.end(), is_advised)) {
    for (v1::PlannedModule& module : modules) {
      module.set_freeze(is_advised(module));
    }
  }
  const bool all_frozen =
      std::all_of(modules.begin(), modules.end(),
                  [](const v1::PlannedModule& m) { return m.freeze(); });
  if (!all_frozen || modules.empty()) return modules;
  std::max_element(modules.begin(), modules.end(),
                   [](const v1::PlannedModule& a, const v1::PlannedModule& b) {
                     return a.cost_of_freezing().value() <
                            b.cost_of_freezing().value();
                   })
      ->set_freeze(false);
  return modules;
}

}  // namespace

std::string NextStudyFile(const std::string& recipe, const std::string& id,
                          const v1::FreezePlan& plan) {
  const std::string levels = LevelsOf(recipe);
  std::string text = "# Made by `frostline demo` from what it has found.\n";
  const std::string kept = recipe.substr(0, recipe.find(kSpace));
  for (const absl::string_view line : absl::StrSplit(kept, '\n')) {
    if (line.substr(0, 1) == "#") continue;
    const bool is_id = line.substr(0, 3) == "id:";
    absl::StrAppend(&text, is_id ? "id: " + id : std::string(line), "\n");
  }
  absl::StrAppend(&text, "space:\n  modules:\n");
  for (const v1::PlannedModule& module : Searched(plan)) {
    absl::StrAppend(&text, "    ", module.module(), ": ",
                    module.freeze() ? "frozen" : levels, "  # ",
                    module.reason(), "\n");
  }
  return text + "    pooler: 1e-3\n    head: 1e-3\n";
}

namespace {

// Returns the error for a study without a result, with the cause that one trial
// gives.
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

// Returns whether the trials are too few, or too equal, for an answer.
bool IsTooFew(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kTrialsTooFew) ||
         HasErrorId(status, ErrorId::kTargetConstant);
}

// Shows importance. If there are too few trials, says so and returns false.
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

namespace {

// Returns the command as it is typed from the working folder.
std::string CommandName() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "frostline";
  const std::string near = std::filesystem::proximate(path, error).string();
  return error || absl::StartsWith(near, "..") ? path.string() : near;
}

}  // namespace

std::string WaysOnText(const WaysOn& ways, const std::string& command) {
  const std::string begin = absl::StrCat("  ", ShellWord(command), " ");
  std::string text = absl::StrCat("Next, type\n", begin, "serve --data ",
                                  ShellWord(ways.folder), " &\n");
  if (ways.has_next) {
    absl::StrAppend(&text, begin, "worker --registry ",
                    ShellWord(ways.folder + "/registry"), " --slots 2 &\n",
                    begin, "study create ",
                    ShellWord(ways.folder + "/next.yaml"),
                    "  # then: study watch ", kNextStudy, "\n");
  } else {
    absl::StrAppend(&text, begin, "study show demo\n");
    if (ways.has_importance) {
      absl::StrAppend(&text, begin, "importance demo\n");
    }
  }
  if (ways.has_example) {
    absl::StrAppend(&text, begin, "report example -o example.html\n");
  }
  return text;
}

void ShowWaysOn(const WaysOn& ways) {
  std::cout << WaysOnText(ways, CommandName()) << std::flush;
}

namespace {

constexpr int kSeeds = 3;  // of each rival

}  // namespace

absl::Status VerifyDemo(Client& client, const std::string& study,
                        LocalFleet& fleet, StopSignals& signals,
                        const Terminal& terminal) {
  ASSIGN_OR_RETURN(const auto before, FetchVerification(client, study));
  if (!before.has_value()) {
    PlanAsked plan;
    plan.study = study;
    ASSIGN_OR_RETURN(const v1::EnqueueTrialsReply reply,
                     EnqueueRivals(client, plan, kSeeds));
    std::cout << "running it beside what it has to beat: "
              << reply.trials_size() << " trials, " << kSeeds << " seeds each\n"
              << std::flush;
  }
  StatusLine line(terminal);
  ASSIGN_OR_RETURN(
      const v1::PlanVerification verification,
      AwaitVerification(
          client, study, signals, [&](const v1::PlanVerification& so_far) {
            line.Show(
                absl::StrCat(so_far.ended(), "/", so_far.total(), " done"));
            return fleet.Check();
          }));
  line.Clear();
  std::cout << RenderVerificationInShort(verification, terminal.width)
            << std::flush;
  return absl::OkStatus();
}

}  // namespace frostline::cli
