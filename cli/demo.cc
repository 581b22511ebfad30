// SPDX-License-Identifier: Apache-2.0
#include "cli/demo.h"

#include <algorithm>
#include <filesystem>
#include <iostream>

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
#include "cli/stop_signals.h"
#include "cli/study_file.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"

namespace frostline {
namespace {

constexpr Duration kPollInterval = std::chrono::milliseconds(250);
constexpr Duration kStallBound = std::chrono::minutes(2);
constexpr int kProgressLines = 8;  // off a terminal

absl::StatusOr<v1::Study> CreateDemoStudy(Client& client, int trials) {
  ASSIGN_OR_RETURN(const StudyFile file,
                   ParseStudyFile(kDemoRecipe, "recipes/demo/study.yaml"));
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(file.id);
  *request.mutable_spec() = file.spec;
  *request.mutable_settings() = file.settings;
  request.mutable_settings()->mutable_budget()->set_trials(trials);
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
                   "nothing has changed for two minutes",
                   "run the demo with --dir DIR and read the logs there");
}

// Until the study ends.
absl::StatusOr<v1::Study> Follow(Client& client, v1::Study study,
                                 DemoFleet& fleet, StopSignals& signals,
                                 const Terminal& terminal) {
  const SystemClock clock;
  Progress progress(terminal);
  SteadyTime last_change = clock.Steady();
  std::int64_t revision = -1;
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
    ASSIGN_OR_RETURN(best, FetchBest(client, study));
    progress.Show(study, best);
  }
  return study;
}

absl::Status Report(Client& client, const v1::Study& study, int width) {
  ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
  if (best.has_value()) {
    std::cout << "\nbest trial " << best->number() << ": "
              << ObjectiveText(*best, study.spec()) << "\n"
              << RenderRates(*best) << "(* frozen)\n";
  }
  v1::GetReportRequest request;
  request.set_study(study.name());
  const auto report =
      client.Call(&v1::ImportanceService::Stub::GetReport, request);
  if (HasErrorId(report.status(), ErrorId::kTrialsTooFew)) {
    std::cout << "\nno importance: " << report.status().message() << "\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(report.status());
  std::cout << "\n" << RenderImportance(*report, width) << std::flush;
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Run(const DemoOptions& options,
                             const Terminal& terminal, DemoFleet& fleet,
                             StopSignals& signals) {
  const SystemClock clock;
  const SteadyTime begin = clock.Steady();
  RETURN_IF_ERROR(fleet.StartCoordinator(signals));
  RETURN_IF_ERROR(fleet.StartWorkers(options.workers));
  std::cout << "coordinator on " << fleet.address() << ", " << options.workers
            << (options.workers == 1 ? " worker\n\n" : " workers\n\n");
  ASSIGN_OR_RETURN(const auto client, Client::Open(fleet.address()));
  ASSIGN_OR_RETURN(v1::Study study, CreateDemoStudy(*client, options.trials));
  ASSIGN_OR_RETURN(study,
                   Follow(*client, std::move(study), fleet, signals, terminal));
  RETURN_IF_ERROR(Report(*client, study, terminal.width));
  std::cout
      << "\n"
      << ProgressText(study) << " in "
      << FormatSeconds(
             std::chrono::duration<double>(clock.Steady() - begin).count())
      << std::endl;
  return study.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
}

}  // namespace

absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal) {
  StopSignals signals;
  ASSIGN_OR_RETURN(const DemoFolder folder,
                   DemoFolder::Make(options.folder, options.keep));
  DemoFleet fleet(folder.path());
  const auto code = Run(options, terminal, fleet, signals);
  if (signals.caught()) {
    signals.Release();
    std::cerr << "stopping; Ctrl-C again to stop at once" << std::endl;
  }
  fleet.Stop();
  if (folder.stays()) std::cerr << "kept: " << folder.path() << "\n";
  return code;
}

}  // namespace frostline
