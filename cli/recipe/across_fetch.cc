// SPDX-License-Identifier: Apache-2.0
//
// The same run of several entries of a stage, set side by side.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "cli/recipe/recipe_record.h"
#include "cli/recipe/recipe_stage.h"
#include "cli/recipe/run_table.h"
#include "frostline/v1/importance_service.grpc.pb.h"

namespace frostline::cli {
namespace {

constexpr int kMostContenders = 16;
constexpr std::size_t kMostTrials = 128;  // of one comparison

// "joined" of the entry "ways-joined".
std::string EntryNameOf(const StudyRecord& record) {
  const std::string stage = LabelOf(record, kRecipeStageLabel);
  return std::string(absl::StripPrefix(LabelOf(record, kRecipeEntryLabel),
                                       absl::StrCat(stage, "-")));
}

// The entry that the others are set against comes first.
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

v1::CompareTrialsRequest AskedOf(const std::vector<const StudyRecord*>& entries,
                                 const std::string& run,
                                 const std::string& metric) {
  v1::CompareTrialsRequest request;
  std::size_t trials = 0;
  for (const StudyRecord* const entry : entries) {
    for (const RunTrials& one : RunsOf(*entry)) {
      const std::size_t more = one.succeeded.size();
      if (one.name != run || more == 0 || trials + more > kMostTrials ||
          request.contenders_size() == kMostContenders) {
        continue;
      }
      trials += more;
      v1::Contender& contender = *request.add_contenders();
      contender.set_name(EntryNameOf(*entry));
      for (const v1::Trial* trial : one.succeeded) {
        contender.add_trials(trial->name());
      }
    }
  }
  NameOutcomes(*entries[0], metric, request);
  return request;
}

absl::Status FetchOne(Client& client, const std::string& stage,
                      const std::string& run,
                      const v1::CompareTrialsRequest& request,
                      RecipeRecord& record) {
  if (request.contenders_size() < 2) return absl::OkStatus();
  auto comparison =
      client.Call(&v1::ImportanceService::Stub::CompareTrials, request);
  if (HasErrorId(comparison.status(), ErrorId::kCoordinatorAway)) {
    return comparison.status();
  }
  if (comparison.ok()) {
    record.across.push_back({stage, run, *std::move(comparison)});
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
                                 AskedOf(entries, run.name, metric), record));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
