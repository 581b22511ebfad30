// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe/recipe_survey.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/report/trial_figures.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/view/format.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "worker/registry/check.h"
#include "worker/registry/registry.h"

namespace frostline::cli {
namespace {

using google::protobuf::Value;

// Returns a node as in a study file: numbers with full precision, words in
// quotes.
YamlPtr NodeOf(const Value& value) {
  if (value.kind_case() == Value::kNumberValue) {
    return ScalarNode(absl::StrFormat("%.17g", value.number_value()), {});
  }
  auto node = std::make_shared<YamlNode>(*ScalarNode(FormatValue(value), {}));
  node->quoted = value.kind_case() == Value::kStringValue;
  return node;
}

YamlPtr MapOf(const google::protobuf::Map<std::string, Value>& values) {
  std::vector<YamlEntry> entries;
  entries.reserve(values.size());
  for (const auto& [name, value] : values) {
    entries.push_back({name, {}, NodeOf(value)});
  }
  return MapNode(std::move(entries), {});
}

YamlPtr MapOf(const RankedPoint& point) {
  std::vector<YamlEntry> entries;
  entries.reserve(static_cast<std::size_t>(point.values().size()));
  for (const v1::ParameterValue& value : point.values()) {
    entries.push_back({value.name(), {}, NodeOf(value.value())});
  }
  return MapNode(std::move(entries), {});
}

absl::Status NothingToTake(const StageStudy& earlier, const std::string& what,
                           const std::string& why) {
  const std::string& id = earlier.study.id;
  return MakeError(ErrorId::kTrialsTooFew,
                   absl::StrCat("stage ", NameOfEntry(earlier), " left no ",
                                what, ": ", why),
                   absl::StrCat("see `frostline trial list ", id,
                                "` and `frostline trial "
                                "log ",
                                id,
                                " 0`; mend what they say and begin again with "
                                "--as ID"),
                   what);
}

// Returns 1 for "best", 2 for "best-2", and 0 for other words.
std::size_t RankOf(const std::string& what) {
  if (what == "best") return 1;
  std::size_t rank = 0;
  const bool is_rank = absl::StartsWith(what, "best-") &&
                       absl::SimpleAtoi(what.substr(5), &rank);
  return is_rank ? rank : 0;
}

absl::StatusOr<std::vector<RankedPoint>> FetchPoints(
    Client& client, const StageStudy& earlier) {
  return FetchRankedPoints(client, StudyNameOf(earlier.study.id));
}

absl::StatusOr<YamlPtr> FetchPlan(Client& client, const StageStudy& earlier) {
  v1::GetPlanRivalsRequest request;
  request.set_study(StudyNameOf(earlier.study.id));
  request.set_seeds(1);
  const auto rivals =
      client.Call(&v1::ImportanceService::Stub::GetPlanRivals, request);
  if (!rivals.ok()) {
    return NothingToTake(earlier, "plan",
                         std::string(rivals.status().message()));
  }
  for (const v1::EnqueuedTrial& trial : rivals->trials()) {
    const auto rival = trial.labels().find("rival");
    if (rival != trial.labels().end() && rival->second == "plan") {
      return MapOf(trial.values());
    }
  }
  return NothingToTake(earlier, "plan", "none was named");
}

absl::StatusOr<YamlPtr> ValueIn(const RankedPoint& best,
                                const StageStudy& earlier,
                                const std::string& name) {
  for (const v1::ParameterValue& value : best.values()) {
    if (value.name() == name) return NodeOf(value.value());
  }
  return NothingToTake(earlier, "best." + name,
                       "its best point has no such value");
}

}  // namespace

absl::StatusOr<YamlPtr> FetchEarlierValue(Client& client,
                                          const StageStudy& earlier,
                                          const std::string& what) {
  if (what == "plan") return FetchPlan(client, earlier);
  ASSIGN_OR_RETURN(const std::vector<RankedPoint> points,
                   FetchPoints(client, earlier));
  if (points.empty()) {
    return NothingToTake(earlier, what, "none of its trials succeeded");
  }
  if (absl::StartsWith(what, "best.")) {
    return ValueIn(points[0], earlier, what.substr(5));
  }
  const std::size_t rank = RankOf(what);
  if (rank == 0) {
    return MakeError(ErrorId::kStudyFieldUnknown,
                     absl::StrCat("a stage has no '", what, "'"),
                     "take best, best-2, best.PARAMETER or plan", what);
  }
  if (rank > points.size()) {
    return NothingToTake(
        earlier, what,
        absl::StrCat("it tried ", points.size(), " different points"));
  }
  return MapOf(points[rank - 1]);
}

namespace {

constexpr char kBest[] = "best.";

std::vector<std::string> DataOf(const v1::StudySpec& spec) {
  std::vector<std::string> ids;
  if (!spec.data().id().empty()) ids.push_back(spec.data().id());
  for (const v1::TaskSpec& task : spec.tasks()) {
    ids.push_back(task.data().id());
  }
  ids.insert(ids.end(), spec.training().also_evaluate().begin(),
             spec.training().also_evaluate().end());
  return ids;
}

std::vector<MissingNeed> MissingOf(const StageStudy& study,
                                   const RecipeStock& stock) {
  const v1::StudySpec& spec = study.study.spec;
  const std::string stage = NameOfEntry(study);
  std::vector<MissingNeed> missing;
  const std::string& model = spec.model().id();
  if (!model.empty() && stock.models.count(model) == 0) {
    missing.push_back({model, true, stage});
  }
  for (const std::string& id : DataOf(spec)) {
    if (stock.data.count(id) == 0) missing.push_back({id, false, stage});
  }
  return missing;
}

void AddEachOnce(const std::vector<MissingNeed>& more,
                 std::vector<MissingNeed>& all) {
  for (const MissingNeed& need : more) {
    const bool known =
        std::any_of(all.begin(), all.end(), [&need](const MissingNeed& other) {
          return other.id == need.id && other.is_model == need.is_model;
        });
    if (!known) all.push_back(need);
  }
}

// Returns whether the wanted model has an unknown number of layers; no study
// can be written without it.
bool IsUnknownModel(const Recipe& recipe, const RecipeOptions& options,
                    const RecipeStock& stock) {
  return !options.model.empty() && stock.models.count(options.model) == 0 &&
         recipe.models.count(options.model) == 0 &&
         options.set.count("layers") == 0;
}

double HighestRate(const v1::ModuleSpace& module) {
  double highest = std::max(module.fixed(), module.log_uniform().hi());
  for (const double rate : module.levels().rates()) {
    highest = std::max(highest, rate);
  }
  return highest;
}

// Warns about rates that a forgetting curve shows to destroy pretraining.
void WarnOfRates(const Recipe& recipe, const StageStudy& study,
                 std::vector<std::string>& warnings) {
  if (recipe.highest_layer_rate <= 0.0) return;
  for (const v1::ModuleSpace& module : study.study.spec.space().modules()) {
    const double highest = HighestRate(module);
    if (!absl::StartsWith(module.select(), "layer.") ||
        highest <= recipe.highest_layer_rate) {
      continue;
    }
    warnings.push_back(absl::StrCat(
        NameOfEntry(study), ": ", module.select(), " may train at ",
        FormatNumber(highest), ", above ",
        FormatNumber(recipe.highest_layer_rate),
        ", from where layers forget what they were pretrained for"));
  }
}

YamlPtr FirstOf(const v1::ParameterSpace& parameter) {
  if (parameter.has_float_()) {
    return ScalarNode(absl::StrCat(parameter.float_().lo()), {});
  }
  if (parameter.has_int_()) {
    return ScalarNode(absl::StrCat(parameter.int_().lo()), {});
  }
  if (parameter.has_choices() && !parameter.choices().values().empty()) {
    return ScalarNode(FormatValue(parameter.choices().values(0)), {});
  }
  if (parameter.has_levels() && !parameter.levels().rates().empty()) {
    return ScalarNode(absl::StrCat(parameter.levels().rates(0)), {});
  }
  return ScalarNode(absl::StrCat(parameter.log_uniform().lo()), {});
}

}  // namespace

RecipeStock RecipeStockOf(const registry::Registry& registry) {
  RecipeStock stock;
  stock.where = absl::StrCat("the registry ", registry.folder);
  for (const auto& [id, entry] : registry.models) stock.models.insert(id);
  for (const auto& [id, entry] : registry.data_sets) stock.data.insert(id);
  stock.model_facts = [registry](const std::string& model) {
    RecipeValues facts;
    const auto found = registry::LookAtModel(registry, model);
    if (!found.ok()) return facts;  // the study's own check says why
    const auto add = [&facts](const char* name, const std::string& text) {
      facts[name] = ScalarNode(text, {});
    };
    add("layers", absl::StrCat(found->layers));
    add("heads", absl::StrCat(found->heads));
    add("no_pooler", found->has_pooler() ? "false" : "true");
    return facts;
  };
  return stock;
}

RecipeValues FactsOf(const Recipe& recipe, const RecipeStock& stock,
                     const std::string& model) {
  RecipeValues facts = stock.model_facts(model);
  const auto known = recipe.models.find(model);
  if (known != recipe.models.end()) {
    facts.insert(known->second.facts.begin(), known->second.facts.end());
  }
  facts.try_emplace("no_pooler", ScalarNode("false", {}));
  std::vector<YamlPtr> above;
  if (facts.at("no_pooler")->text != "true") {
    above.push_back(ScalarNode("pooler", {}));
  }
  above.push_back(ScalarNode("head", {}));
  facts.emplace("above_layers", ListNode(std::move(above), {}));
  return facts;
}

absl::StatusOr<YamlPtr> StandInFor(const StageStudy& earlier,
                                   const std::string& what) {
  if (!absl::StartsWith(what, kBest)) return MapNode({}, {});
  const std::string name = what.substr(std::string(kBest).size());
  for (const v1::ParameterSpace& parameter :
       earlier.study.spec.space().parameters()) {
    if (parameter.name() == name) return FirstOf(parameter);
  }
  return ScalarNode("0", {});  // a module's rate: frozen is one
}

absl::StatusOr<RecipeSurvey> SurveyRecipe(const Recipe& recipe,
                                          const RecipeScale& scale,
                                          const RecipeOptions& options,
                                          const RecipeStock& stock) {
  RecipeSurvey survey;
  if (IsUnknownModel(recipe, options, stock)) {
    survey.missing.push_back({options.model, true, recipe.stages.front().name});
    return survey;
  }
  bool took_earlier = false;
  const StageWorld world = {
      recipe, scale, options,
      [&recipe, &stock](const std::string& model) {
        return FactsOf(recipe, stock, model);
      },
      [&took_earlier](const StageStudy& earlier, const std::string& what) {
        took_earlier = true;
        return StandInFor(earlier, what);
      }};
  std::vector<StageStudy> earlier;
  for (const RecipeStage& stage : recipe.stages) {
    took_earlier = false;
    ASSIGN_OR_RETURN(const auto studies, StudiesOf(world, stage, earlier));
    for (const StageStudy& study : studies) {
      SurveyedStudy surveyed = {study, took_earlier, MissingOf(study, stock)};
      const bool has_model =
          std::none_of(surveyed.missing.begin(), surveyed.missing.end(),
                       [](const MissingNeed& need) { return need.is_model; });
      earlier.push_back(study);
      if (!surveyed.missing.empty() && has_model && study.skip_without_data) {
        survey.skipped.push_back(std::move(surveyed));
        continue;
      }
      AddEachOnce(surveyed.missing, survey.missing);
      WarnOfRates(recipe, study, survey.warnings);
      survey.studies.push_back(std::move(surveyed));
    }
  }
  return survey;
}

std::string DescribeMissing(const Recipe& recipe,
                            const std::vector<MissingNeed>& missing) {
  std::string text;
  for (const MissingNeed& need : missing) {
    const auto& known = need.is_model ? recipe.models : recipe.data;
    const auto found = known.find(need.id);
    absl::StrAppend(&text, need.is_model ? "model " : "data set ", need.id,
                    " is missing (first needed by ", need.stage, ")\n");
    if (found != known.end()) {
      absl::StrAppend(&text, "  ", found->second.what,
                      "; to be had: ", found->second.where, "\n");
    }
    const bool has_line = found != known.end() && !found->second.add.empty();
    absl::StrAppend(&text, "  register it: ",
                    has_line ? found->second.add
                    : need.is_model
                        ? absl::StrCat("frostline registry add model FOLDER "
                                       "--id ",
                                       need.id)
                        : absl::StrCat("frostline registry add dataset FILE "
                                       "--id ",
                                       need.id),
                    "\n");
  }
  return text;
}

namespace {

// The ids of a registry's file: the keys that begin a line.
std::set<std::string> SampleIdsIn(std::string_view file) {
  std::set<std::string> ids;
  for (const SampleFile& each : SampleFiles()) {
    if (each.path != file) continue;
    for (const absl::string_view line : absl::StrSplit(
             absl::string_view(each.content.data(), each.content.size()),
             '\n')) {
      if (line.empty() || line.front() == ' ' || line.front() == '#') continue;
      ids.insert(std::string(line.substr(0, line.find(':'))));
    }
  }
  return ids;
}

}  // namespace

RecipeStock StockOfSamples() {
  RecipeStock stock;
  stock.where = "the samples that the program carries";
  stock.models = SampleIdsIn(registry::kModelsFile);
  stock.data = SampleIdsIn(registry::kDataSetsFile);
  // The recipes themselves say how many layers it has.
  stock.model_facts = [](const std::string&) { return RecipeValues(); };
  return stock;
}

absl::Status MakeSampleRegistry(const std::string& folder) {
  namespace fs = std::filesystem;
  for (const SampleFile& each : SampleFiles()) {
    const fs::path path = fs::path(folder) / each.path;
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << each.content;
    file.close();
    if (file) continue;
    return MakeError(ErrorId::kStoreUnwritable,
                     absl::StrCat(path.string(), ": could not be written"),
                     "name a folder with room for 1 MB with --local DIR");
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
