// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_stage.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/recipe/recipe_file.h"
#include "cli/study_file/yaml_sugar.h"

namespace frostline::cli {
namespace {

using Kind = YamlNode::Kind;
using Axis = std::vector<RecipeEntry>;

constexpr std::int64_t kMostSteps = 1'000;
constexpr std::size_t kMostEntries = 1'000;

absl::StatusOr<Axis> ReadAxis(const YamlPtr& node, const std::string& file) {
  Axis axis;
  for (const YamlEntry& entry : node->entries) {
    RecipeEntry& one = axis.emplace_back();
    one.names = {entry.key};
    if (entry.value->kind == Kind::kNull) continue;
    if (entry.value->kind != Kind::kMap) {
      return ErrorAt(ErrorId::kStudyFileSyntax, file, entry.value->mark,
                     absl::StrCat(entry.key, " is ", Describe(*entry.value)),
                     "write its values: english: {data: ewt}", "each");
    }
    for (const YamlEntry& value : entry.value->entries) {
      one.values[value.key] = value.value;
    }
  }
  if (!axis.empty()) return axis;
  return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                 absl::StrCat("each is ", Describe(*node), " without entries"),
                 "write a map from names to values, or a list of such maps",
                 "each");
}

bool IsOf(const RecipeEntry& entry, const Replacement& wanted) {
  return entry.names[0] == wanted.id ||
         entry.values.at(wanted.key)->text == wanted.id;
}

Axis Replaced(Axis axis, const Replacement& wanted) {
  const bool concerns = std::all_of(
      axis.begin(), axis.end(), [&wanted](const RecipeEntry& entry) {
        const auto found = entry.values.find(wanted.key);
        return found != entry.values.end() &&
               found->second->kind == Kind::kScalar;
      });
  if (wanted.id.empty() || !concerns) return axis;
  Axis kept;
  for (const RecipeEntry& entry : axis) {
    if (IsOf(entry, wanted)) kept.push_back(entry);
  }
  if (!kept.empty()) return kept;
  RecipeEntry only = axis[0];
  only.names = {wanted.id};
  only.values[wanted.key] =
      ScalarNode(wanted.id, only.values[wanted.key]->mark);
  return {only};
}

absl::StatusOr<std::int64_t> WholeOf(const YamlPtr& range, const char* key,
                                     const std::string& file) {
  const YamlEntry* const entry = range->Find(key);
  std::int64_t number = 0;
  if (entry != nullptr && entry->value->kind == Kind::kScalar &&
      absl::SimpleAtoi(entry->value->text, &number)) {
    return number;
  }
  return ErrorAt(ErrorId::kStudyFileSyntax, file, range->mark,
                 absl::StrCat("the range has no whole number ", key),
                 "write {from: 1, to: 4}", "for");
}

absl::StatusOr<std::vector<YamlPtr>> StepsOf(const YamlPtr& node,
                                             const std::string& file) {
  if (node->kind == Kind::kList) return node->items;
  if (node->kind != Kind::kMap) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                   absl::StrCat("for has ", Describe(*node)),
                   "write a list, or {from: 1, to: 4}", "for");
  }
  ASSIGN_OR_RETURN(const std::int64_t from, WholeOf(node, "from", file));
  ASSIGN_OR_RETURN(const std::int64_t to, WholeOf(node, "to", file));
  if (from > to || to - from >= kMostSteps) {
    return ErrorAt(ErrorId::kStudyFileSyntax, file, node->mark,
                   absl::StrCat("from ", from, " to ", to, " is no range"),
                   "let from be at most to, and both near", "for");
  }
  std::vector<YamlPtr> steps;
  steps.reserve(static_cast<std::size_t>(to - from + 1));
  for (std::int64_t i = from; i <= to; ++i) {
    steps.push_back(ScalarNode(absl::StrCat(i), node->mark));
  }
  return steps;
}

}  // namespace

absl::StatusOr<std::vector<RecipeEntry>> EntriesOfEach(
    const YamlPtr& each, const std::string& file,
    const std::vector<Replacement>& replacements) {
  std::vector<RecipeEntry> entries(1);
  if (each == nullptr) return entries;
  std::vector<YamlPtr> axes = {each};
  if (each->kind == Kind::kList) axes = each->items;
  for (const YamlPtr& node : axes) {
    ASSIGN_OR_RETURN(Axis axis, ReadAxis(node, file));
    for (const Replacement& wanted : replacements) {
      axis = Replaced(std::move(axis), wanted);
    }
    std::vector<RecipeEntry> combined;
    for (const RecipeEntry& so_far : entries) {
      for (const RecipeEntry& one : axis) {
        RecipeEntry& entry = combined.emplace_back(so_far);
        entry.names.push_back(one.names[0]);
        for (const auto& [key, value] : one.values) entry.values[key] = value;
      }
    }
    if (combined.size() > kMostEntries) {
      return ErrorAt(ErrorId::kFieldTooLarge, file, node->mark,
                     absl::StrCat("each makes ", combined.size(), " studies"),
                     absl::StrCat("let it make ", kMostEntries, " at most"),
                     "each");
    }
    entries = std::move(combined);
  }
  return entries;
}

absl::StatusOr<std::vector<RecipeValues>> EntriesOfFor(
    const YamlPtr& loop, const std::string& file) {
  std::vector<RecipeValues> entries(1);
  if (loop == nullptr) return entries;
  for (const YamlEntry& variable : loop->entries) {
    ASSIGN_OR_RETURN(const std::vector<YamlPtr> steps,
                     StepsOf(variable.value, file));
    std::vector<RecipeValues> combined;
    for (const RecipeValues& so_far : entries) {
      for (const YamlPtr& step : steps) {
        combined.emplace_back(so_far)[variable.key] = step;
      }
    }
    entries = std::move(combined);
  }
  return entries;
}

namespace {

// Returns the values of the command line, which override all others.
RecipeValues SaidValues(const RecipeOptions& options) {
  RecipeValues said = options.set;
  for (const auto& [key, id] :
       {std::pair("model", options.model), std::pair("data", options.data)}) {
    if (!id.empty()) said[key] = ScalarNode(id, {});
  }
  return said;
}

// Returns the values of the command line for one entry, without a model or data
// that the entry has itself. Several entries may come from one replacement.
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

// Returns a lookup. A name with a dot is a result of an earlier stage; other
// names come from the scopes.
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

// Returns the labels from which a report of the run is made, without the
// recipe's file.
YamlPtr LabelsOf(const StageWorld& world, const StageStudy& study,
                 const YamlMark& mark) {
  std::vector<YamlEntry> labels;
  const auto add = [&labels, &mark](const char* key, const std::string& text) {
    if (!text.empty()) labels.push_back({key, mark, ScalarNode(text, mark)});
  };
  add(kRecipeLabel, world.recipe.name);
  add(kRecipeRunLabel, RunIdOf(world.recipe, world.options));
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
    add(kRecipeAcrossMarginLabel, study.across->margin);
  }
  return MapNode(std::move(labels), mark);
}

absl::Status ReadStudyOf(const StageWorld& world, const YamlPtr& put,
                         const std::vector<YamlPtr>& enqueue,
                         StageStudy& study) {
  std::vector<YamlEntry> entries = put->entries;
  const YamlMark& mark = put->mark;
  SetKey("id",
         ScalarNode(absl::StrCat(RunIdOf(world.recipe, world.options), "-",
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

absl::Status PutAcross(const RecipeStage& stage, const std::string& file,
                       const ValueOf& value_of, StageStudy& study) {
  study.across = stage.across;
  if (!stage.across || stage.across->margin.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(study.across->margin,
                   PutText(stage.across->margin, file, value_of));
  double margin = 0.0;
  if (absl::SimpleAtod(study.across->margin, &margin) && margin >= 0.0 &&
      std::isfinite(margin)) {
    return absl::OkStatus();
  }
  return ErrorAt(ErrorId::kStudyFileSyntax, file, stage.study->mark,
                 absl::StrCat("margin of across is '", study.across->margin,
                              "', which is no number of at least 0"),
                 "write how much worse still counts as alike: margin: 0.01",
                 "across.margin");
}

// Returns what is known of the model that these values name: its layers, say.
absl::StatusOr<RecipeValues> FactsOfModel(const StageWorld& world,
                                          const ValueOf& value_of) {
  ASSIGN_OR_RETURN(const YamlPtr model, value_of("model"));
  if (model == nullptr || model->kind != Kind::kScalar) return RecipeValues();
  return world.model_facts(model->text);
}

absl::StatusOr<StageStudy> StudyOf(const StageWorld& world,
                                   const RecipeStage& stage,
                                   const RecipeEntry& entry,
                                   const RecipeValues& said,
                                   const std::vector<StageStudy>& earlier) {
  const std::string& file = world.recipe.file;
  ASSIGN_OR_RETURN(const RecipeValues facts,
                   FactsOfModel(world, FromScopes({&said, &entry.values,
                                                   &world.scale.values})));
  const ValueOf value_of = ValuesFor(
      world, stage, entry, earlier,
      FromScopes({&said, &entry.values, &world.scale.values, &facts}));
  StageStudy study;
  study.stage = stage.name;
  study.names = entry.names;
  study.about = stage.about;
  study.skip_without_data = stage.skip_without_data;
  RETURN_IF_ERROR(PutAcross(stage, file, value_of, study));
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

std::string RunIdOf(const Recipe& recipe, const RecipeOptions& options) {
  return options.id.empty() ? absl::StrCat(recipe.name, "-", options.scale)
                            : options.id;
}

absl::StatusOr<std::vector<StageStudy>> StudiesOf(
    const StageWorld& world, const RecipeStage& stage,
    const std::vector<StageStudy>& earlier) {
  const RecipeValues said = SaidValues(world.options);
  YamlPtr each = stage.each;
  if (each != nullptr) {
    ASSIGN_OR_RETURN(
        const RecipeValues facts,
        FactsOfModel(world, FromScopes({&said, &world.scale.values})));
    ASSIGN_OR_RETURN(
        each, PutValues(each, world.recipe.file,
                        FromScopes({&said, &world.scale.values, &facts})));
  }
  ASSIGN_OR_RETURN(const auto entries,
                   EntriesOfEach(each, world.recipe.file,
                                 {{"model", world.options.model},
                                  {"data", world.options.data}}));
  std::vector<StageStudy> studies;
  for (const RecipeEntry& entry : entries) {
    ASSIGN_OR_RETURN(
        StageStudy study,
        StudyOf(world, stage, entry, SaidBeside(said, entry), earlier));
    studies.push_back(std::move(study));
  }
  return studies;
}

namespace {

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
  if (!run.line.empty()) {
    labels.push_back({kRunLineLabel, mark, ScalarNode(run.line, mark)});
  }
  std::vector<YamlEntry> entries = point;
  entries.push_back({"labels", mark, MapNode(std::move(labels), mark)});
  entries.push_back({"seed", mark, seed});
  return MapNode(std::move(entries), mark);
}

// Adds one run with its values put in.
absl::Status AddRun(const YamlEntry& run, const std::string& file,
                    const std::vector<YamlPtr>& seeds, ExpandedRuns& all) {
  RecipeFields fields(run.value, file, absl::StrCat("run ", run.key));
  std::vector<YamlEntry> point;
  for (const char* const key : {"strategy", "values"}) {
    const YamlPtr value = fields.Take(key);
    if (value != nullptr) point.push_back({key, value->mark, value});
  }
  StageRun stage_run = {.name = run.key, .at = std::nullopt};
  if (run.value->Find("at") != nullptr) stage_run.at = fields.TakeNumber("at");
  stage_run.line = fields.TakeText("line");
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
