// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/recipe_run.h"
#include "cli/commands/registry.h"
#include "cli/recipe/earlier_values.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_view.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr Duration kRecipePollInterval = std::chrono::milliseconds(250);
constexpr Duration kHintAfter = std::chrono::seconds(20);

// Studies of one stage share the workers, and may wait for each other.
bool AnythingRuns(Client& client) {
  const auto info =
      client.Call(&v1::AdminService::Stub::GetInfo, v1::GetInfoRequest());
  return info.ok() && info->open_leases() > 0;
}

}  // namespace

absl::Status CheckSurvey(const RecipeSurvey& survey,
                         const std::string& registry) {
  for (const SurveyedStudy& study : survey.studies) {
    if (!study.missing.empty()) continue;
    RETURN_IF_ERROR(CheckStudyFit(study.study.study, registry));
  }
  return absl::OkStatus();
}

RecipeRunner::RecipeRunner(const OpenedRecipe& opened,
                           const RecipeSurvey& survey, const RecipeStock& stock,
                           Client& client, LocalFleet* fleet,
                           StopSignals& signals, const Terminal& terminal)
    : opened_(opened),
      survey_(survey),
      client_(client),
      fleet_(fleet),
      signals_(signals),
      terminal_(terminal),
      world_{opened.recipe, opened.scale, opened.wish,
             [&opened, &stock](const std::string& model) {
               return FactsOf(opened.recipe, stock, model);
             },
             [this](const StageStudy& earlier, const std::string& what) {
               return EarlierValue(earlier, what);
             }} {}

bool RecipeRunner::IsSkipped(const StageStudy& study) const {
  return std::any_of(survey_.skipped.begin(), survey_.skipped.end(),
                     [&study](const SurveyedStudy& skipped) {
                       return skipped.study.study.id == study.study.id;
                     });
}

// What was skipped has nothing to hand on, and only what is skipped asks it.
absl::StatusOr<YamlPtr> RecipeRunner::EarlierValue(const StageStudy& earlier,
                                                   const std::string& what) {
  if (IsSkipped(earlier)) return StandInFor(earlier, what);
  return FetchEarlierValue(client_, earlier, what);
}

absl::StatusOr<v1::Study> RecipeRunner::Begin(const StageStudy& study) {
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_study_id(study.study.id);
  *request.mutable_spec() = study.study.spec;
  *request.mutable_settings() = study.study.settings;
  // One that is there goes on, with settings that somebody may have changed.
  const auto there = FetchStudy(client_, StudyNameOf(study.study.id));
  if (there.ok()) *request.mutable_settings() = there->settings();
  const auto reply =
      client_.Call(&v1::StudyService::Stub::CreateStudy, request);
  if (reply.ok()) return reply->study();
  if (HasErrorId(reply.status(), ErrorId::kStudyAlreadyExists)) {
    return MakeError(
        ErrorId::kStudyAlreadyExists,
        absl::StrCat("study ", study.study.id,
                     " is there and is not what the recipe says now"),
        "take the values that it was begun with, or begin another run with "
        "--as ID",
        "--as");
  }
  return PlaceError(reply.status(), study.study);
}

absl::StatusOr<v1::Study> RecipeRunner::Await(v1::Study study) {
  const SystemClock clock;
  StatusLine line(terminal_);
  SteadyTime last_change = clock.Steady();
  std::int64_t revision = -1;
  bool hinted = false;
  while (!IsEnded(study.state())) {
    line.Show(absl::StrCat(LastPart(study.name()), ": ", ProgressText(study)));
    RETURN_IF_ERROR(signals_.Pause(kRecipePollInterval));
    if (fleet_ != nullptr) RETURN_IF_ERROR(fleet_->Check());
    ASSIGN_OR_RETURN(study, FetchStudy(client_, study.name()));
    if (study.revision() != revision || study.counts().running() > 0) {
      revision = study.revision();
      last_change = clock.Steady();
    }
    if (!hinted && clock.Steady() - last_change > kHintAfter &&
        !AnythingRuns(client_)) {
      hinted = true;
      std::cerr << "nothing runs; `frostline study watch "
                << LastPart(study.name()) << "` says why\n";
    }
  }
  return study;
}

absl::StatusOr<ExitCode> RecipeRunner::Tell(const StageStudy& stage,
                                            const v1::Study& study) {
  const std::string id = LastPart(study.name());
  std::cout << "\n" << id << ": " << ProgressText(study);
  if (!stage.about.empty()) std::cout << ": " << stage.about;
  std::cout << "\n" << std::flush;
  if (study.counts().succeeded() == 0) {
    std::cerr << "stage " << NameOfEntry(stage)
              << " left nothing that can be used: no trial of " << id
              << " succeeded.\n`frostline trial list " << id
              << "` and `frostline trial log " << id
              << " 0` say why; mend that, and begin again with --as ID\n";
    return kExitNoResult;
  }
  ASSIGN_OR_RETURN(const StageRecord record,
                   FetchStage(client_, study, /*tolerance=*/0.0));
  const auto& published = opened_.recipe.published;
  const auto found = published.find(NameOfEntry(stage));
  std::cout << RenderStage(record,
                           found == published.end() ? nullptr : &found->second,
                           terminal_.width)
            << std::flush;
  return kExitOk;
}

// All studies of a stage begin at once, so that no worker waits for the last
// trial of one.
absl::StatusOr<ExitCode> RecipeRunner::RunStage(const RecipeStage& stage) {
  ASSIGN_OR_RETURN(const std::vector<StageStudy> studies,
                   StudiesOf(world_, stage, earlier_));
  earlier_.insert(earlier_.end(), studies.begin(), studies.end());
  std::vector<std::pair<const StageStudy*, v1::Study>> begun;
  for (const StageStudy& study : studies) {
    if (IsSkipped(study)) {
      std::cout << "SKIP " << NameOfEntry(study) << ": its data set is not "
                << "registered\n";
      continue;
    }
    ASSIGN_OR_RETURN(v1::Study there, Begin(study));
    begun.emplace_back(&study, std::move(there));
  }
  for (auto& [study, there] : begun) {
    ASSIGN_OR_RETURN(const v1::Study ended, Await(std::move(there)));
    ASSIGN_OR_RETURN(const ExitCode code, Tell(*study, ended));
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> RecipeRunner::Run() {
  for (const RecipeStage& stage : opened_.recipe.stages) {
    ASSIGN_OR_RETURN(const ExitCode code, RunStage(stage));
    if (code != kExitOk) return code;
  }
  return kExitOk;
}

}  // namespace frostline::cli
