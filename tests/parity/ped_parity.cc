// SPDX-License-Identifier: Apache-2.0
//
// PED-ANOVA on the trials of Optuna's studies, as its versions 4 and 5 do it.
#include <cmath>
#include <numeric>

#include "importance/ped/ped_anova.h"
#include "sampler/split.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr double kPedTolerance = 1e-10;

const json& PedResultOf(const json& file, const std::string& version) {
  const json& result = file.at("results").at(version);
  return result.contains("same_as")
             ? file.at("results").at(result["same_as"].get<std::string>())
             : result;
}

Domain PedDomainOf(const json& recorded) {
  const std::string type = recorded.at("type");
  if (type == "categorical") {
    Categorical choices;
    for (const json& choice : recorded.at("choices")) {
      choices.choices.push_back(choice.dump());
    }
    return choices;
  }
  const bool log = recorded.at("log");
  if (type == "int") {
    return IntRange{recorded.at("low"), recorded.at("high"),
                    recorded.at("step"), log};
  }
  const json& step = recorded.at("step");
  return FloatRange{recorded.at("low"), recorded.at("high"),
                    step.is_null() ? 0.0 : step.get<double>(), log};
}

struct Recorded {
  Space space;
  std::vector<Objective> objectives;
  std::vector<Point> points;
  std::vector<std::vector<double>> values;
};

Recorded StudyOf(const json& input) {
  Recorded study;
  std::vector<Parameter> parameters;
  for (const auto& [name, domain] : input.at("distributions").items()) {
    parameters.push_back({name, PedDomainOf(domain), {}});
  }
  study.space = Space(parameters, {}, std::nullopt);
  for (const json& direction : input.at("directions")) {
    study.objectives.push_back({"v" + std::to_string(study.objectives.size()),
                                direction == "maximize"
                                    ? Direction::kMaximize
                                    : Direction::kMinimize});
  }
  for (const json& trial : input.at("trials")) {
    Point point;
    for (const Parameter& parameter : parameters) {
      const json& params = trial.at("params");
      point.push_back(params.contains(parameter.name)
                          ? params[parameter.name].get<double>()
                          : kAbsent);
    }
    study.points.push_back(point);
    study.values.push_back(trial.at("values").get<std::vector<double>>());
  }
  return study;
}

// The losses of one objective, or of the target values[0], which is one.
std::vector<double> PedLossesOf(const Recorded& study, bool first_value) {
  std::vector<double> losses;
  for (const std::vector<double>& values : study.values) {
    losses.push_back(first_value ? values[0]
                                 : AsLoss(study.objectives[0], values[0]));
  }
  return losses;
}

// Several objectives: good are those that the sampler would learn from.
importance::CountedTrials ParetoBest(const Recorded& study, double quantile) {
  std::vector<sampler::SplitKey> keys(study.values.size());
  std::vector<sampler::KeyedTrial> trials;
  for (std::uint32_t t = 0; t < keys.size(); ++t) {
    keys[t].group = sampler::SplitGroup::kFinished;
    for (std::size_t k = 0; k < study.objectives.size(); ++k) {
      keys[t].losses.push_back(AsLoss(study.objectives[k], study.values[t][k]));
    }
    trials.push_back({t, t, &keys[t]});
  }
  const auto n = static_cast<double>(trials.size());
  importance::CountedTrials best;
  const auto below = static_cast<std::size_t>(std::ceil(quantile * n));
  for (const std::uint32_t t : sampler::SplitTrials(trials, below).below) {
    best.emplace_back(t, 1);
  }
  return best;
}

void CheckPedRun(const Recorded& study, const std::string& name,
                 const json& recorded, const json& input,
                 const importance::PedAnovaOptions& base,
                 ParityResult& result) {
  importance::PedAnovaOptions options = base;
  double region_quantile = 1.0;
  const json& given = input.at("options");
  if (given.contains("target_quantile")) {
    options.target_quantile = given["target_quantile"];
  }
  options.local = name != "evaluate_on_local_false";
  if (options.local && given.contains("region_quantile")) {
    region_quantile = given["region_quantile"];
  }
  const bool several = study.objectives.size() > 1;
  const bool pareto = several && name == "default";
  const std::vector<double> losses = PedLossesOf(study, several);
  importance::CountedTrials all;
  std::vector<const Point*> points;
  for (std::uint32_t t = 0; t < losses.size(); ++t) {
    all.emplace_back(t, 1);
    points.push_back(&study.points[t]);
  }
  const importance::CountedTrials region =
      importance::BestTrials(losses, region_quantile, options, all);
  const importance::CountedTrials good =
      pareto ? ParetoBest(study, options.target_quantile)
             : importance::BestTrials(losses, options.target_quantile, options,
                                      all);
  const std::vector<double> importances = importance::PedImportances(
      importance::MakePedAxes(study.space, points, options), region, good);
  const double sum =
      std::accumulate(importances.begin(), importances.end(), 0.0);
  for (std::size_t i = 0; i < importances.size(); ++i) {
    const std::string& parameter = study.space.parameters()[i].name;
    if (!recorded.at("raw").contains(parameter)) {
      result.True(parameter + " is left out", importances[i] == 0.0);
      continue;
    }
    result.Near(name + " " + parameter, recorded["raw"][parameter],
                importances[i], kPedTolerance);
    result.Near(name + " normalized " + parameter,
                recorded["normalized"][parameter], importances[i] / sum,
                kPedTolerance);
  }
}

void CheckPedAnova(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const Recorded study = StudyOf(file.at("input"));
  for (const auto& [version, unused] : file.at("results").items()) {
    importance::PedAnovaOptions options;
    options.conditional = version[0] != '4';
    for (const auto& [name, run] : PedResultOf(file, version).items()) {
      CheckPedRun(study, name, run, file.at("input"), options, result);
    }
  }
}

const bool kPedRegistered =
    RegisterParity("ped_anova", R"(ped_anova_.*\.json)", CheckPedAnova);

}  // namespace
}  // namespace frostline::test
