// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_runs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/recipe/recipe_entries.h"
#include "cli/recipe/yaml_fields.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;

absl::StatusOr<std::vector<YamlPtr>> SeedsOf(const YamlPtr& runs,
                                             const std::string& file,
                                             const ValueOf& value_of) {
  ASSIGN_OR_RETURN(const YamlPtr seeds, value_of("seeds"));
  if (seeds != nullptr && seeds->kind == Kind::kList && !seeds->items.empty()) {
    return seeds->items;
  }
  return ErrorAt(ErrorId::kStudyFieldMissing, file, runs->mark,
                 "runs need seeds, and the scale has none",
                 "add a value such as seeds: [1, 2, 3] to the scale", "seeds");
}

YamlPtr Trial(const std::vector<YamlEntry>& point, const StageRun& run,
              const YamlPtr& seed, const YamlMark& mark) {
  std::vector<YamlEntry> labels = {
      {kRunLabel, mark, ScalarNode(run.name, mark)}};
  if (run.at) {
    labels.push_back(
        {kRunAtLabel, mark, ScalarNode(absl::StrCat(*run.at), mark)});
  }
  std::vector<YamlEntry> entries = point;
  entries.push_back({"labels", mark, MapNode(std::move(labels), mark)});
  entries.push_back({"seed", mark, seed});
  return MapNode(std::move(entries), mark);
}

// One run, its values put in.
absl::Status AddRun(const YamlEntry& run, const std::string& file,
                    const std::vector<YamlPtr>& seeds, ExpandedRuns& all) {
  YamlFields fields(run.value, file, absl::StrCat("run ", run.key));
  std::vector<YamlEntry> point;
  for (const char* const key : {"strategy", "values"}) {
    const YamlPtr value = fields.Take(key);
    if (value != nullptr) point.push_back({key, value->mark, value});
  }
  StageRun stage_run = {.name = run.key, .at = std::nullopt};
  if (run.value->Find("at") != nullptr) stage_run.at = fields.TakeNumber("at");
  const bool is_there = std::any_of(
      all.runs.begin(), all.runs.end(),
      [&run](const StageRun& other) { return other.name == run.key; });
  if (is_there) {
    fields.Fail(run.key_mark, ErrorId::kStudyFileSyntax,
                absl::StrCat("two runs are called '", run.key, "'"),
                "put a value of for into the name", "runs");
  }
  if (point.empty()) {
    fields.Fail(run.key_mark, ErrorId::kStudyFieldMissing,
                absl::StrCat("run ", run.key, " has no point"),
                "give it a strategy, or values", "runs");
  }
  RETURN_IF_ERROR(fields.Finish());
  for (const YamlPtr& seed : seeds) {
    all.enqueue.push_back(Trial(point, stage_run, seed, run.key_mark));
  }
  all.runs.push_back(std::move(stage_run));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ExpandedRuns> ExpandRuns(const YamlPtr& runs,
                                        const std::string& file,
                                        const ValueOf& value_of) {
  ASSIGN_OR_RETURN(const std::vector<YamlPtr> seeds,
                   SeedsOf(runs, file, value_of));
  ExpandedRuns all;
  for (const YamlEntry& entry : runs->entries) {
    const YamlEntry* const loop = entry.value->Find("for");
    YamlPtr put_loop;
    if (loop != nullptr) {
      ASSIGN_OR_RETURN(put_loop, PutValues(loop->value, file, value_of));
    }
    std::vector<YamlEntry> body;
    for (const YamlEntry& part : entry.value->entries) {
      if (part.key != "for") body.push_back(part);
    }
    YamlEntry one = entry;
    if (entry.value->kind == Kind::kMap) {
      one.value = MapNode(std::move(body), entry.value->mark);
    }
    ASSIGN_OR_RETURN(const auto turns, EntriesOfFor(put_loop, file));
    for (const RecipeValues& turn : turns) {
      const ValueOf first_of_turn =
          [&turn,
           &value_of](const std::string& name) -> absl::StatusOr<YamlPtr> {
        const auto found = turn.find(name);
        if (found != turn.end()) return found->second;
        return value_of(name);
      };
      ASSIGN_OR_RETURN(
          const YamlPtr put,
          PutValues(MapNode({one}, entry.key_mark), file, first_of_turn));
      for (const YamlEntry& run : put->entries) {
        RETURN_IF_ERROR(AddRun(run, file, seeds, all));
      }
    }
  }
  return all;
}

}  // namespace frostline::cli
