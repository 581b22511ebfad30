// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_stage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/recipe/recipe_entries.h"
#include "cli/recipe/recipe_runs.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;

// Values that go before all others: what the command line says.
RecipeValues SaidValues(const RecipeWish& wish) {
  RecipeValues said = wish.set;
  for (const auto& [key, id] :
       {std::pair("model", wish.model), std::pair("data", wish.data)}) {
    if (!id.empty()) said[key] = ScalarNode(id, {});
  }
  return said;
}

// Of `each` a replacement has made entries, which may be several of one id.
RecipeValues SaidBeside(const RecipeValues& said, const RecipeEntry& entry) {
  RecipeValues beside = said;
  for (const char* const key : {"model", "data"}) {
    if (entry.values.count(key) > 0) beside.erase(key);
  }
  return beside;
}

absl::StatusOr<const StageStudy*> FindEarlier(
    const std::vector<StageStudy>& earlier, const std::string& stage,
    const RecipeEntry& entry, const std::string& file, const YamlMark& mark) {
  const StageStudy* found = nullptr;
  bool is_stage = false;
  for (const StageStudy& study : earlier) {
    if (study.stage != stage) continue;
    is_stage = true;
    const bool is_same = std::all_of(
        study.names.begin(), study.names.end(), [&entry](const auto& name) {
          return std::count(entry.names.begin(), entry.names.end(), name) > 0;
        });
    if (is_same) found = &study;
  }
  if (found != nullptr) return found;
  return ErrorAt(ErrorId::kStudyFieldUnknown, file, mark,
                 is_stage
                     ? absl::StrCat("stage ", stage, " has no entry ",
                                    absl::StrJoin(entry.names, "-"))
                     : absl::StrCat("no earlier stage is called '", stage, "'"),
                 "name a stage above this one, with the same entries", stage);
}

// A name with a dot is of an earlier stage; else of the scopes.
ValueOf ValuesFor(const StageWorld& world, const RecipeStage& stage,
                  const RecipeEntry& entry,
                  const std::vector<StageStudy>& earlier, ValueOf own) {
  return [&world, &stage, &entry, &earlier, own = std::move(own)](
             const std::string& name) -> absl::StatusOr<YamlPtr> {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) return own(name);
    ASSIGN_OR_RETURN(const StageStudy* const study,
                     FindEarlier(earlier, name.substr(0, dot), entry,
                                 world.recipe.file, stage.study->mark));
    return world.earlier_value(*study, name.substr(dot + 1));
  };
}

void SetKey(const std::string& key, YamlPtr value,
            std::vector<YamlEntry>& entries) {
  for (YamlEntry& entry : entries) {
    if (entry.key == key) {
      entry.value = std::move(value);
      return;
    }
  }
  entries.push_back({key, value->mark, value});
}

// What a report of the run is made of, without the recipe's file.
YamlPtr LabelsOf(const StageWorld& world, const StageStudy& study,
                 const YamlMark& mark) {
  std::vector<YamlEntry> labels;
  const auto add = [&labels, &mark](const char* key, const std::string& text) {
    if (!text.empty()) labels.push_back({key, mark, ScalarNode(text, mark)});
  };
  add(kRecipeLabel, world.recipe.name);
  add(kRecipeRunLabel, RunIdOf(world.recipe, world.wish));
  add(kRecipeStageLabel, study.stage);
  add(kRecipeEntryLabel, NameOfEntry(study));
  add(kRecipeCurveLabel, study.curve);
  if (study.compare) {
    add(kRecipeCompareLabel, study.compare->to);
    add(kRecipeMetricLabel, study.compare->metric);
    add(kRecipeMarginLabel, absl::StrCat(study.compare->margin));
  }
  if (study.across) {
    add(kRecipeAcrossLabel, study.across->to);
    add(kRecipeAcrossMetricsLabel, absl::StrJoin(study.across->metrics, ","));
  }
  return MapNode(std::move(labels), mark);
}

absl::Status ReadStudyOf(const StageWorld& world, const YamlPtr& put,
                         const std::vector<YamlPtr>& enqueue,
                         StageStudy& study) {
  std::vector<YamlEntry> entries = put->entries;
  const YamlMark& mark = put->mark;
  SetKey("id",
         ScalarNode(absl::StrCat(RunIdOf(world.recipe, world.wish), "-",
                                 NameOfEntry(study)),
                    mark),
         entries);
  SetKey(
      "recipe",
      ScalarNode(absl::StrCat(world.recipe.name, " ", world.scale.name), mark),
      entries);
  SetKey("labels", LabelsOf(world, study, mark), entries);
  if (!enqueue.empty()) {
    SetKey("enqueue", ListNode(enqueue, mark), entries);
    if (put->Find("budget") == nullptr) {
      SetKey("budget", ScalarNode(absl::StrCat(enqueue.size()), mark), entries);
    }
  }
  ASSIGN_OR_RETURN(study.study, ReadStudyTree(MapNode(std::move(entries), mark),
                                              world.recipe.file));
  return absl::OkStatus();
}

absl::StatusOr<std::string> PutText(const std::string& text,
                                    const std::string& file,
                                    const ValueOf& value_of) {
  ASSIGN_OR_RETURN(const YamlPtr put,
                   PutValues(ScalarNode(text, {}), file, value_of));
  return put->text;
}

absl::Status PutCompare(const RecipeStage& stage, const std::string& file,
                        const ValueOf& value_of, StageStudy& study) {
  ASSIGN_OR_RETURN(study.curve, PutText(stage.curve, file, value_of));
  if (!stage.compare) return absl::OkStatus();
  RecipeCompare compare = *stage.compare;
  ASSIGN_OR_RETURN(compare.to, PutText(compare.to, file, value_of));
  ASSIGN_OR_RETURN(compare.metric, PutText(compare.metric, file, value_of));
  const bool is_run = std::any_of(
      study.runs.begin(), study.runs.end(),
      [&compare](const StageRun& run) { return run.name == compare.to; });
  if (!is_run) {
    return ErrorAt(ErrorId::kStudyFieldUnknown, file, stage.runs->mark,
                   absl::StrCat("no run is called '", compare.to, "'"),
                   "let compare.to name one of the stage's runs", "compare.to");
  }
  study.compare = std::move(compare);
  return absl::OkStatus();
}

absl::StatusOr<StageStudy> StudyOf(const StageWorld& world,
                                   const RecipeStage& stage,
                                   const RecipeEntry& entry,
                                   const RecipeValues& said,
                                   const std::vector<StageStudy>& earlier) {
  const std::string& file = world.recipe.file;
  RecipeValues facts;
  const ValueOf first = FromScopes({&said, &entry.values, &world.scale.values});
  ASSIGN_OR_RETURN(const YamlPtr model, first("model"));
  if (model != nullptr && model->kind == Kind::kScalar) {
    facts = world.model_facts(model->text);
  }
  const ValueOf value_of = ValuesFor(
      world, stage, entry, earlier,
      FromScopes({&said, &entry.values, &world.scale.values, &facts}));
  StageStudy study;
  study.stage = stage.name;
  study.names = entry.names;
  study.about = stage.about;
  study.skip_without_data = stage.skip_without_data;
  study.across = stage.across;
  ExpandedRuns expanded;
  if (stage.runs != nullptr) {
    ASSIGN_OR_RETURN(expanded, ExpandRuns(stage.runs, file, value_of));
  }
  study.runs = std::move(expanded.runs);
  RETURN_IF_ERROR(PutCompare(stage, file, value_of, study));
  ASSIGN_OR_RETURN(const YamlPtr put, PutValues(stage.study, file, value_of));
  RETURN_IF_ERROR(ReadStudyOf(world, put, expanded.enqueue, study));
  return study;
}

}  // namespace

std::string NameOfEntry(const StageStudy& study) {
  std::vector<std::string> names = {study.stage};
  names.insert(names.end(), study.names.begin(), study.names.end());
  return absl::StrJoin(names, "-");
}

std::string RunIdOf(const Recipe& recipe, const RecipeWish& wish) {
  return wish.id.empty() ? absl::StrCat(recipe.name, "-", wish.scale) : wish.id;
}

absl::StatusOr<std::vector<StageStudy>> StudiesOf(
    const StageWorld& world, const RecipeStage& stage,
    const std::vector<StageStudy>& earlier) {
  const RecipeValues said = SaidValues(world.wish);
  YamlPtr each = stage.each;
  if (each != nullptr) {
    ASSIGN_OR_RETURN(each, PutValues(each, world.recipe.file,
                                     FromScopes({&said, &world.scale.values})));
  }
  ASSIGN_OR_RETURN(
      const auto entries,
      EntriesOfEach(each, world.recipe.file,
                    {{"model", world.wish.model}, {"data", world.wish.data}}));
  std::vector<StageStudy> studies;
  for (const RecipeEntry& entry : entries) {
    ASSIGN_OR_RETURN(
        StageStudy study,
        StudyOf(world, stage, entry, SaidBeside(said, entry), earlier));
    studies.push_back(std::move(study));
  }
  return studies;
}

}  // namespace frostline::cli
