// SPDX-License-Identifier: Apache-2.0
#include "cli/demo.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/client.h"
#include "cli/commands/command.h"
#include "cli/demo_fleet.h"
#include "cli/demo_folder.h"
#include "cli/demo_recipe.h"
#include "cli/demo_registry.h"
#include "cli/demo_report.h"
#include "cli/stop_signals.h"
#include "cli/study_file.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"

namespace frostline {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(250);
constexpr Duration kStallBound = std::chrono::minutes(5);
constexpr int kProgressLines = 8;  // off a terminal

double SecondsBetween(SteadyTime from, SteadyTime to) {
  return std::chrono::duration<double>(to - from).count();
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
  const auto reply = client.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!reply.ok()) return PlaceError(reply.status(), file);
  std::cout << RenderPlan(*reply) << std::endl;
  return reply->study();
}

// Says how far the study is: on a terminal all the time, else now and then.
class Progress {
 public:
  explicit Progress(const Terminal& terminal)
      : terminal_(terminal), line_(terminal) {}

  void Show(const v1::Study& study, const std::optional<v1::Trial>& best) {
    std::string text = ProgressText(study);
    if (best.has_value()) {
      absl::StrAppend(&text, ", best ", ObjectiveText(*best, study.spec()),
                      " (trial ", best->number(), ")");
    }
    line_.Show(text);
    const std::int64_t done = study.counts().budget_used();
    const std::int64_t step = std::max<std::int64_t>(
        1, study.settings().budget().trials() / kProgressLines);
    if (terminal_.err_is_tty || done < shown_ + step) return;
    shown_ = done;
    std::cout << text << std::endl;
  }

 private:
  const Terminal& terminal_;
  StatusLine line_;
  std::int64_t shown_ = 0;
};

absl::Status Stalled() {
  return MakeError(ErrorId::kTrainerExited,
                   "nothing has changed for five minutes",
                   "run the demo with --dir DIR and read the logs there");
}

// When the study's trials ran.
struct Times {
  SteadyTime begin;
  SteadyTime first_lease;
  SteadyTime end;
};

// Until the study ends.
absl::StatusOr<v1::Study> Follow(Client& client, v1::Study study,
                                 DemoFleet& fleet, StopSignals& signals,
                                 const Terminal& terminal, Times& times) {
  const SystemClock clock;
  Progress progress(terminal);
  SteadyTime last_change = clock.Steady();
  std::int64_t revision = -1;
  bool leased = false;
  std::optional<v1::Trial> best;
  while (!IsEnded(study.state())) {
    RETURN_IF_ERROR(signals.Pause(kPollInterval));
    RETURN_IF_ERROR(fleet.Check());
    ASSIGN_OR_RETURN(study, FetchStudy(client, study.name()));
    if (study.revision() == revision) {
      if (clock.Steady() - last_change > kStallBound) return Stalled();
      continue;
    }
    revision = study.revision();
    last_change = clock.Steady();
    if (!leased &&
        study.counts().running() + study.counts().budget_used() > 0) {
      leased = true;
      times.first_lease = last_change;
      std::cout << "first trial after "
                << FormatSeconds(SecondsBetween(times.begin, last_change))
                << std::endl;
    }
    ASSIGN_OR_RETURN(best, FetchBest(client, study));
    progress.Show(study, best);
  }
  times.end = clock.Steady();
  return study;
}

void ShowTimes(const v1::Study& study, const Times& times) {
  std::cout << "\n"
            << ProgressText(study) << " in "
            << FormatSeconds(SecondsBetween(times.first_lease, times.end))
            << " from the first lease, "
            << FormatSeconds(
                   SecondsBetween(times.begin, SystemClock().Steady()))
            << " in all" << std::endl;
}

absl::StatusOr<ExitCode> Run(const DemoOptions& options,
                             const Terminal& terminal,
                             const std::vector<std::string>& trainer,
                             const std::string& folder, DemoFleet& fleet,
                             StopSignals& signals) {
  Times times;
  times.begin = times.first_lease = SystemClock().Steady();
  RETURN_IF_ERROR(fleet.StartCoordinator(signals));
  RETURN_IF_ERROR(fleet.StartWorkers(options.workers, trainer));
  std::cout << "coordinator on " << fleet.address() << ", " << options.workers
            << (options.workers == 1 ? " worker\n\n" : " workers\n\n");
  ASSIGN_OR_RETURN(const auto client, Client::Open(fleet.address()));
  ASSIGN_OR_RETURN(v1::Study study, CreateDemoStudy(*client, options));
  ASSIGN_OR_RETURN(study, Follow(*client, std::move(study), fleet, signals,
                                 terminal, times));
  RETURN_IF_ERROR(
      ReportDemo(*client, study, folder, !options.synthetic, terminal.width));
  ShowTimes(study, times);
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
  StopSignals signals;
  ASSIGN_OR_RETURN(DemoFolder folder,
                   DemoFolder::Make(options.folder, options.keep));
  ASSIGN_OR_RETURN(const auto trainer, PrepareTrainer(options, folder.path()));
  DemoFleet fleet(folder.path());
  const auto code =
      Run(options, terminal, trainer, folder.path(), fleet, signals);
  if (signals.caught()) {
    signals.Release();
    std::cerr << "stopping; Ctrl-C again to stop at once" << std::endl;
  }
  fleet.Stop();
  // The commands it has shown go on from there; without a result, its logs say
  // why.
  if (code.ok() && (!options.synthetic || *code != kExitOk)) folder.Keep();
  if (folder.stays()) std::cerr << "kept: " << folder.path() << "\n";
  return code;
}

}  // namespace frostline
