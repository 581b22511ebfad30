// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_record.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/json.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "cli/report/study_record.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "proto/rules.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const RecordKind& RecipeKind() {
  static const auto* const kKind =
      new RecordKind{"frostline_recipe_report", 1, "a recipe's run",
                     "frostline report RUN -o FILE.json"};
  return *kKind;
}

absl::Status NoRecipeRecord(const std::string& why) {
  return cli::NoRecord(RecipeKind(), why);
}

std::string TextOf(const Struct& all, const std::string& key) {
  const auto found = all.fields().find(key);
  return found == all.fields().end() ? "" : found->second.string_value();
}

absl::StatusOr<v1::TrialComparison> ReadComparison(const Value& value) {
  v1::TrialComparison comparison;
  RETURN_IF_ERROR(ReadRecordPart(RecipeKind(), value, comparison));
  return comparison;
}

absl::StatusOr<StageRecord> ReadRecordedStage(const Value& value) {
  const auto& fields = value.struct_value().fields();
  const auto study = fields.find("study");
  if (study == fields.end()) return NoRecipeRecord("a stage has no study");
  StageRecord stage;
  ASSIGN_OR_RETURN(stage.study, ReadRecord(RecordJson(study->second)));
  const auto comparison = fields.find("comparison");
  if (comparison == fields.end()) return stage;
  ASSIGN_OR_RETURN(stage.comparison, ReadComparison(comparison->second));
  return stage;
}

absl::Status ReadRecordedAcross(const Struct& all, RecipeRecord& record) {
  const auto across = all.fields().find("across");
  if (across != all.fields().end()) {
    for (const Value& value : across->second.list_value().values()) {
      const Struct& one = value.struct_value();
      const auto comparison = one.fields().find("comparison");
      if (comparison == one.fields().end())
        return NoRecipeRecord("nothing across");
      AcrossRecord& read = record.across.emplace_back();
      read.stage = TextOf(one, "stage");
      read.run = TextOf(one, "run");
      ASSIGN_OR_RETURN(read.comparison, ReadComparison(comparison->second));
    }
  }
  const auto missing = all.fields().find("missing");
  if (missing == all.fields().end()) return absl::OkStatus();
  for (const Value& value : missing->second.list_value().values()) {
    record.missing.push_back(value.string_value());
  }
  return absl::OkStatus();
}

}  // namespace

std::string ToText(const RecipeRecord& record) {
  std::vector<std::string> stages;
  stages.reserve(record.stages.size());
  for (const StageRecord& stage : record.stages) {
    JsonObject one;
    one.Put("study", ToText(stage.study));
    if (stage.comparison) one.Put("comparison", RecordJson(*stage.comparison));
    stages.push_back(one.Text());
  }
  std::vector<std::string> across;
  across.reserve(record.across.size());
  for (const AcrossRecord& each : record.across) {
    across.push_back(JsonObject()
                         .PutText("stage", each.stage)
                         .PutText("run", each.run)
                         .Put("comparison", RecordJson(each.comparison))
                         .Text());
  }
  return BeginRecord(RecipeKind())
             .PutText("run", record.run)
             .PutText("recipe_file", record.recipe_file)
             .PutText("recipe", record.recipe_text)
             .Put("stages", JsonList(stages))
             .Put("across", JsonList(across))
             .Put("missing", JsonTexts(record.missing))
             .Text() +
         "\n";
}

bool IsRecipeRecord(const std::string& text) {
  return absl::StartsWith(text,
                          absl::StrCat("{\"", RecipeKind().version_key, "\""));
}

absl::StatusOr<RecipeRecord> ReadRecipeRecord(const std::string& text) {
  ASSIGN_OR_RETURN(const Struct all, ReadRecordStruct(RecipeKind(), text));
  RecipeRecord record;
  record.run = TextOf(all, "run");
  record.recipe_file = TextOf(all, "recipe_file");
  record.recipe_text = TextOf(all, "recipe");
  const auto stages = all.fields().find("stages");
  if (stages == all.fields().end()) return NoRecipeRecord("it has no stages");
  for (const Value& value : stages->second.list_value().values()) {
    ASSIGN_OR_RETURN(StageRecord stage, ReadRecordedStage(value));
    record.stages.push_back(std::move(stage));
  }
  RETURN_IF_ERROR(ReadRecordedAcross(all, record));
  return record;
}

// Fetching a recipe's record from the coordinator.

namespace {

using Studies = v1::StudyService::Stub;

constexpr int kPointsOfACurve = 200;
int MostContenders() {
  return proto::MaxItems<v1::CompareTrialsRequest>("contenders");
}

// Fetches curves. The best trials have theirs already; every other run needs
// one.
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

absl::Status Compare(Client& client, StageRecord& stage) {
  if (LabelOf(stage.study, kRecipeCompareLabel).empty()) {
    return absl::OkStatus();
  }
  ComparedRuns compared = RunsToCompare(stage.study);
  const v1::CompareTrialsRequest& request = compared.request();
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
    compared.SayLeftOut("The comparison of runs", stage.study.missing);
  } else {
    stage.study.missing.push_back(absl::StrCat(
        "The runs are not tested: ", comparison.status().message(), "."));
  }
  return absl::OkStatus();
}

}  // namespace

void ComparedRuns::Add(const std::string& name, const RunTrials& run) {
  if (run.succeeded.empty()) return;
  if (request_.contenders_size() == MostContenders() ||
      trials_ + run.succeeded.size() > proto::kMaxComparedTrials) {
    left_out_.push_back(name);
    return;
  }
  trials_ += run.succeeded.size();
  v1::Contender& contender = *request_.add_contenders();
  contender.set_name(name);
  for (const v1::Trial* trial : run.succeeded) {
    contender.add_trials(trial->name());
  }
}

void ComparedRuns::SayLeftOut(const std::string& what,
                              std::vector<std::string>& missing) const {
  if (left_out_.empty()) return;
  missing.push_back(
      absl::StrCat(what, " leaves out ", absl::StrJoin(left_out_, ", "),
                   ": it takes ", MostContenders(), " runs and ",
                   proto::kMaxComparedTrials, " trials at most."));
}

ComparedRuns RunsToCompare(const StudyRecord& record) {
  ComparedRuns compared;
  const std::string to = LabelOf(record, kRecipeCompareLabel);
  for (const bool first : {true, false}) {
    for (const RunTrials& run : RunsOf(record)) {
      if ((run.name == to) == first) compared.Add(run.name, run);
    }
  }
  v1::CompareTrialsRequest& request = compared.request();
  NameOutcomes(record, MetricOfRuns(record), request);
  double margin = 0.0;
  if (absl::SimpleAtod(LabelOf(record, kRecipeMarginLabel), &margin)) {
    request.set_margin(margin);
  }
  return compared;
}

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
    if (study.counts().succeeded() == 0 &&
        !stage.study.trials.trials().empty()) {
      record.missing.push_back(absl::StrCat(
          LabelOf(stage.study, kRecipeEntryLabel), ": no trial succeeded: ",
          proto::CleanText(stage.study.trials.trials(0).cause(),
                           proto::kMaxCauseBytes),
          "."));
    }
    record.stages.push_back(std::move(stage));
  }
  RETURN_IF_ERROR(FetchAcross(client, record));
  return record;
}

// Comparison of the same run in several entries of a stage.

std::string EntryNameOf(const StudyRecord& record) {
  const std::string stage = LabelOf(record, kRecipeStageLabel);
  return std::string(absl::StripPrefix(LabelOf(record, kRecipeEntryLabel),
                                       absl::StrCat(stage, "-")));
}

namespace {

// Returns the entries; the one that the others are compared with is first.
std::vector<const StudyRecord*> EntriesOf(const RecipeRecord& record,
                                          const std::string& stage,
                                          const std::string& to) {
  std::vector<const StudyRecord*> entries;
  for (const StageRecord& one : record.stages) {
    if (LabelOf(one.study, kRecipeStageLabel) == stage) {
      entries.push_back(&one.study);
    }
  }
  std::stable_partition(
      entries.begin(), entries.end(),
      [&to](const StudyRecord* one) { return EntryNameOf(*one) == to; });
  return entries;
}

ComparedRuns EntriesToCompare(const std::vector<const StudyRecord*>& entries,
                              const std::string& run,
                              const std::string& metric) {
  ComparedRuns compared;
  for (const StudyRecord* const entry : entries) {
    for (const RunTrials& one : RunsOf(*entry)) {
      if (one.name == run) compared.Add(EntryNameOf(*entry), one);
    }
  }
  NameOutcomes(*entries[0], metric, compared.request());
  double margin = 0.0;
  if (absl::SimpleAtod(LabelOf(*entries[0], kRecipeAcrossMarginLabel),
                       &margin)) {
    compared.request().set_margin(margin);
  }
  return compared;
}

absl::Status FetchOne(Client& client, const std::string& stage,
                      const std::string& run, ComparedRuns compared,
                      RecipeRecord& record) {
  const v1::CompareTrialsRequest& request = compared.request();
  if (request.contenders_size() < 2) return absl::OkStatus();
  auto comparison =
      client.Call(&v1::ImportanceService::Stub::CompareTrials, request);
  if (HasErrorId(comparison.status(), ErrorId::kCoordinatorAway)) {
    return comparison.status();
  }
  if (comparison.ok()) {
    record.across.push_back({stage, run, *std::move(comparison)});
    compared.SayLeftOut(
        absl::StrCat(stage, ", ", run, ": the test by ", request.metric()),
        record.missing);
  } else {
    record.missing.push_back(absl::StrCat(
        stage, ", ", run, ": the entries are not tested by ", request.metric(),
        ": ", comparison.status().message(), "."));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FetchAcross(Client& client, RecipeRecord& record) {
  std::vector<std::string> done;
  for (std::size_t i = 0; i < record.stages.size(); ++i) {
    const StudyRecord& study = record.stages[i].study;
    const std::string stage = LabelOf(study, kRecipeStageLabel);
    const std::string to = LabelOf(study, kRecipeAcrossLabel);
    if (to.empty() || std::count(done.begin(), done.end(), stage) > 0) continue;
    done.push_back(stage);
    const auto entries = EntriesOf(record, stage, to);
    std::vector<std::string> metrics = absl::StrSplit(
        LabelOf(study, kRecipeAcrossMetricsLabel), ',', absl::SkipEmpty());
    if (metrics.empty()) metrics = {MetricOfRuns(*entries[0])};
    for (const RunTrials& run : RunsOf(*entries[0])) {
      for (const std::string& metric : metrics) {
        RETURN_IF_ERROR(FetchOne(client, stage, run.name,
                                 EntriesToCompare(entries, run.name, metric),
                                 record));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
