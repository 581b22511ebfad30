// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/demo/demo_depth.h"
#include "cli/demo/demo_example.h"
#include "cli/demo/demo_follow.h"
#include "cli/demo/demo_recipe.h"
#include "cli/demo/demo_registry.h"
#include "cli/demo/demo_report.h"
#include "cli/demo/demo_verify.h"
#include "cli/demo/demo_ways_on.h"
#include "cli/process/local_fleet.h"
#include "cli/process/stop_signals.h"
#include "cli/process/work_folder.h"
#include "cli/study_file/study_file.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr int kMostDemoTrials = 1000;

// Who asks for another number would wait for trials that never come. What a
// plan has enqueued came on top.
absl::Status CheckSameTrials(Client& client, const v1::Study& there,
                             const DemoOptions& options) {
  if (options.trials == 0) return absl::OkStatus();
  v1::ListTrialsRequest request;
  request.set_parent(there.name());
  request.set_page_size(kMostDemoTrials);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                   client.Call(&v1::StudyService::Stub::ListTrials, request));
  const auto of_plan = std::count_if(
      page.trials().begin(), page.trials().end(), [](const v1::Trial& trial) {
        return trial.origin() == v1::TRIAL_ORIGIN_ENQUEUED;
      });
  const std::int64_t has = there.settings().budget().trials() - of_plan;
  if (options.trials == has) return absl::OkStatus();
  return MakeError(ErrorId::kStudyAlreadyExists,
                   absl::StrCat("the demo in ", options.folder, " is one of ",
                                has, " trials, not ", options.trials),
                   "leave --trials out to go on with it, or name another --dir",
                   "--trials");
}

absl::StatusOr<v1::Study> CreateDemoStudy(Client& client,
                                          const DemoOptions& options) {
  ASSIGN_OR_RETURN(
      const StudyFile file,
      options.synthetic
          ? ParseStudyFile(kSyntheticRecipe, "recipes/demo/study.yaml")
          : ParseStudyFile(kDemoRecipe, "recipes/demo/demo.yaml"));
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(file.id);
  *request.mutable_spec() = file.spec;
  *request.mutable_settings() = file.settings;
  if (options.trials > 0) {
    request.mutable_settings()->mutable_budget()->set_trials(options.trials);
  }
  // A demo that is there goes on: its plan may have raised the budget.
  const auto there = FetchStudy(client, StudyNameOf(file.id));
  if (there.ok()) {
    RETURN_IF_ERROR(CheckSameTrials(client, *there, options));
    *request.mutable_settings() = there->settings();
  }
  const auto reply = client.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!reply.ok()) return PlaceError(reply.status(), file);
  std::cout << RenderPlanInShort(*reply) << std::flush;
  return reply->study();
}

absl::StatusOr<ExitCode> RunDemoStages(const DemoOptions& options,
                                       const Terminal& terminal,
                                       const std::vector<std::string>& trainer,
                                       SteadyTime begin, LocalFleet& fleet,
                                       StopSignals& signals, WaysOn& ways) {
  DemoTimes times = {begin, std::nullopt, begin};
  RETURN_IF_ERROR(fleet.StartCoordinator(signals));
  ASSIGN_OR_RETURN(const auto client, Client::Open(fleet.address()));
  if (options.example) RETURN_IF_ERROR(LeaveExample(*client));
  RETURN_IF_ERROR(fleet.StartWorkers(options.workers, trainer));
  std::cout << "coordinator on " << fleet.address() << ", " << options.workers
            << (options.workers == 1 ? " worker\n" : " workers\n");
  ASSIGN_OR_RETURN(v1::Study study, CreateDemoStudy(*client, options));
  if (IsEnded(study.state())) {
    std::cout << "\nThe demo of this folder has ended before.\n";
  }
  ASSIGN_OR_RETURN(study, FollowDemo(*client, std::move(study), fleet, signals,
                                     terminal, times));
  ASSIGN_OR_RETURN(const auto plan, ReportDemo(*client, study, terminal.width));
  if (plan.has_value()) {
    RETURN_IF_ERROR(
        VerifyDemo(*client, study.name(), fleet, signals, terminal));
    ASSIGN_OR_RETURN(study, FetchStudy(*client, study.name()));
    times.end = SystemClock().Steady();
  }
  if (plan.has_value() && !options.synthetic) {
    RETURN_IF_ERROR(
        ShowDepths(*client, options.trials, fleet, signals, terminal));
    RETURN_IF_ERROR(WriteNext(*plan, ways.folder));
    ways.has_next = true;
  }
  ways.has_importance = plan.has_value();
  ways.has_example = options.example;
  ShowDemoTimes(study, times);
  return study.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
}

// The arguments of a worker; for the real demo its registry is made.
absl::StatusOr<std::vector<std::string>> PrepareTrainer(
    const DemoOptions& options, const std::string& folder) {
  if (options.synthetic) return SyntheticTrainer();
  ASSIGN_OR_RETURN(const std::string model, FindDemoModel(options.model));
  const std::string registry = absl::StrCat(folder, "/registry");
  ASSIGN_OR_RETURN(auto trainer, RealTrainer(registry));
  RETURN_IF_ERROR(MakeDemoRegistry(registry, model));
  return trainer;
}

}  // namespace

absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal) {
  const SteadyTime begin = SystemClock().Steady();
  StopSignals signals;
  ASSIGN_OR_RETURN(WorkFolder folder,
                   WorkFolder::Make(options.folder, options.keep));
  ASSIGN_OR_RETURN(const auto trainer, PrepareTrainer(options, folder.path()));
  LocalFleet fleet(folder.path());
  WaysOn ways = {.folder = folder.path()};
  const auto code =
      RunDemoStages(options, terminal, trainer, begin, fleet, signals, ways);
  if (signals.caught()) {
    signals.Release();
    std::cerr << "stopping; Ctrl-C again to stop at once" << std::endl;
  }
  fleet.Stop();
  // One goes on from what it has made; without a result, its logs say why.
  if (code.ok()) folder.Keep();
  if (folder.stays()) std::cerr << "kept: " << folder.path() << "\n";
  if (code.ok() && *code == kExitOk) ShowWaysOn(ways);
  return code;
}

}  // namespace frostline::cli
