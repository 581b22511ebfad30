// SPDX-License-Identifier: Apache-2.0
//
// A recipe's record, asked for at the coordinator.
#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "cli/report/record_fetch.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"

namespace frostline::cli {
namespace {

using Studies = v1::StudyService::Stub;

constexpr int kPointsOfACurve = 200;
constexpr int kMostFetchedContenders = 16;
constexpr int kMostFetchedTrials = 128;  // of one comparison

// The best trials have theirs; runs that are not among them need one each.
absl::Status FetchRunCurves(Client& client, StudyRecord& record) {
  for (const RunTrials& run : RunsOf(record)) {
    if (run.succeeded.empty()) continue;
    const v1::Trial& first = *run.succeeded[0];
    if (record.curves.count(first.number()) > 0) continue;
    v1::ListMeasurementsRequest asked;
    asked.set_name(first.name());
    asked.set_downsample_to(kPointsOfACurve);
    ASSIGN_OR_RETURN(record.curves[first.number()],
                     client.Call(&Studies::ListMeasurements, asked));
  }
  return absl::OkStatus();
}

void AddContender(const RunTrials& run, v1::CompareTrialsRequest& request) {
  v1::Contender& contender = *request.add_contenders();
  contender.set_name(run.name);
  for (const v1::Trial* trial : run.succeeded) {
    contender.add_trials(trial->name());
  }
}

v1::CompareTrialsRequest FetchedOf(const StudyRecord& record) {
  v1::CompareTrialsRequest request;
  const std::string to = LabelOf(record, kRecipeCompareLabel);
  const std::vector<RunTrials> runs = RunsOf(record);
  int trials = 0;
  for (const bool first : {true, false}) {
    for (const RunTrials& run : runs) {
      const int more = static_cast<int>(run.succeeded.size());
      if ((run.name == to) != first || more == 0) continue;
      if (request.contenders_size() == kMostFetchedContenders ||
          trials + more > kMostFetchedTrials) {
        continue;
      }
      trials += more;
      AddContender(run, request);
    }
  }
  NameOutcomes(record, MetricOfRuns(record), request);
  double margin = 0.0;
  if (absl::SimpleAtod(LabelOf(record, kRecipeMarginLabel), &margin)) {
    request.set_margin(margin);
  }
  return request;
}

absl::Status Compare(Client& client, StageRecord& stage) {
  if (LabelOf(stage.study, kRecipeCompareLabel).empty()) {
    return absl::OkStatus();
  }
  const v1::CompareTrialsRequest request = FetchedOf(stage.study);
  if (request.contenders_size() < 2) {
    stage.study.missing.push_back(
        "Nothing is compared: fewer than two runs have a result.");
    return absl::OkStatus();
  }
  auto comparison =
      client.Call(&v1::ImportanceService::Stub::CompareTrials, request);
  if (HasErrorId(comparison.status(), ErrorId::kCoordinatorAway)) {
    return comparison.status();
  }
  if (comparison.ok()) {
    stage.comparison = *std::move(comparison);
  } else {
    stage.study.missing.push_back(absl::StrCat(
        "The runs are not tested: ", comparison.status().message(), "."));
  }
  return absl::OkStatus();
}

}  // namespace

void NameOutcomes(const StudyRecord& record, const std::string& metric,
                  v1::CompareTrialsRequest& request) {
  request.set_metric(metric);
  const std::size_t dot = metric.find('.');
  if (dot == std::string::npos) return;
  const std::string first = metric.substr(0, dot);
  for (const v1::TaskSpec& task : record.study.spec().tasks()) {
    if (task.name() != first) continue;
    request.set_task(first);
    if (absl::StartsWith(metric.substr(dot + 1), "test.")) {
      request.set_set("test");
    }
    return;
  }
  request.set_set(first);
}

absl::StatusOr<std::vector<v1::Study>> FindRunStudies(Client& client,
                                                      const std::string& run) {
  v1::ListStudiesRequest request;
  request.set_filter(
      absl::StrCat("labels.", kRecipeRunLabel, " = \"", run, "\""));
  ASSIGN_OR_RETURN(const v1::ListStudiesReply reply,
                   client.CallForAll(&Studies::ListStudies, request));
  std::vector<v1::Study> studies(reply.studies().begin(),
                                 reply.studies().end());
  if (studies.empty()) {
    return MakeError(
        ErrorId::kStudyNotFound,
        absl::StrCat("no study, and no run of a recipe, is called ", run),
        "`frostline study list` names all", "name");
  }
  std::stable_sort(studies.begin(), studies.end(),
                   [](const v1::Study& a, const v1::Study& b) {
                     const auto& x = a.create_time();
                     const auto& y = b.create_time();
                     return std::pair(x.seconds(), x.nanos()) <
                            std::pair(y.seconds(), y.nanos());
                   });
  return studies;
}

absl::StatusOr<StageRecord> FetchStage(Client& client, const v1::Study& study,
                                       double tolerance) {
  StageRecord stage;
  ASSIGN_OR_RETURN(stage.study, FetchTrialsRecord(client, study.name()));
  if (RunsOf(stage.study).empty()) {
    ASSIGN_OR_RETURN(stage.study, FetchRecord(client, study.name(), tolerance));
    return stage;
  }
  RETURN_IF_ERROR(FetchRunCurves(client, stage.study));
  RETURN_IF_ERROR(Compare(client, stage));
  return stage;
}

absl::StatusOr<RecipeRecord> FetchRun(Client& client, const std::string& run,
                                      const Recipe* recipe, double tolerance) {
  RecipeRecord record;
  record.run = run;
  if (recipe != nullptr) {
    record.recipe_file = recipe->file;
    record.recipe_text = recipe->text;
  }
  ASSIGN_OR_RETURN(const std::vector<v1::Study> studies,
                   FindRunStudies(client, run));
  for (const v1::Study& study : studies) {
    ASSIGN_OR_RETURN(StageRecord stage, FetchStage(client, study, tolerance));
    record.stages.push_back(std::move(stage));
  }
  RETURN_IF_ERROR(FetchAcross(client, record));
  return record;
}

}  // namespace frostline::cli
