// SPDX-License-Identifier: Apache-2.0
//
// TPE's densities, splits and truncated normals, and the median pruner, against
// what Optuna 5 recorded.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sampler/pruner/pruner.h"
#include "sampler/tpe/numeric_axis.h"
#include "sampler/tpe/parzen.h"
#include "sampler/tpe/split.h"
#include "sampler/tpe/truncated_normal.h"
#include "tests/parity/parity.h"

namespace frostline {
namespace {

using nlohmann::json;

constexpr const char* kVersion = "5.0.0";

// Non-finite numbers are recorded as words.
double NumberOf(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string word = value.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return word == "-inf" ? -infinity : infinity;
}

std::vector<double> NumbersOf(const json& values) {
  std::vector<double> numbers;
  for (const json& value : values) numbers.push_back(NumberOf(value));
  return numbers;
}

Domain DomainOf(const json& recorded) {
  const std::string type = recorded["type"];
  if (type == "categorical") {
    Categorical choices;
    for (int i = 0; i < recorded["n_choices"]; ++i) {
      choices.choices.push_back(std::to_string(i));
    }
    return choices;
  }
  if (type == "int") {
    return IntRange{recorded["low"].get<std::int64_t>(),
                    recorded["high"].get<std::int64_t>(),
                    recorded["step"].get<std::int64_t>(), recorded["log"]};
  }
  return FloatRange{recorded["low"], recorded["high"],
                    recorded["step"].is_null() ? 0.0
                                               : recorded["step"].get<double>(),
                    recorded["log"]};
}

// Kernels of equal centres come in no particular order from the recorder's
// sort, so the widths are compared as a set.
void CompareKernels(const json& recorded, const NumericAxis& axis,
                    const std::string& what, ParityResult& result) {
  std::vector<std::pair<double, double>> expected, actual;
  for (std::size_t k = 0; k < recorded["mu"].size(); ++k) {
    expected.emplace_back(recorded["mu"][k], recorded["sigma"][k]);
    actual.emplace_back(axis.mu(k), axis.sigma(k));
  }
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    result.Near(what + ".mu", expected[k].first, actual[k].first, 1e-12);
    result.Near(what + ".sigma", expected[k].second, actual[k].second, 1e-12);
  }
}

void CompareMixture(const json& input, const std::vector<std::string>& names,
                    const json& recorded, const std::string& what,
                    ParityResult& result) {
  std::vector<Domain> domains;
  for (const std::string& name : names) {
    domains.push_back(DomainOf(input["distributions"][name]));
  }
  std::vector<const Domain*> pointers;
  Columns observed, points;
  for (std::size_t d = 0; d < names.size(); ++d) {
    pointers.push_back(&domains[d]);
    observed.push_back(NumbersOf(input["observations"][names[d]]));
    points.push_back(NumbersOf(input["points"][names[d]]));
    const auto range = NumericRangeOf(domains[d]);
    if (range.has_value()) {
      CompareKernels(recorded["components"][names[d]],
                     NumericAxis(*range, observed.back()),
                     what + "." + names[d], result);
    }
  }
  ParzenMixture mixture(pointers, observed, Recency::kForget, 0.0);
  for (std::size_t k = 0; k < mixture.weights().size(); ++k) {
    result.Near(what + ".weight", NumberOf(recorded["weights"][k]),
                mixture.weights()[k], 1e-12);
  }
  const std::vector<double> densities = mixture.LogDensity(points);
  for (std::size_t i = 0; i < densities.size(); ++i) {
    result.Near(what + ".log_pdf", NumberOf(recorded["log_pdf"][i]),
                densities[i], 1e-10);
  }
}

void CheckDensity(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const json& recorded = file["results"][kVersion];
  for (const auto& [name, one] : recorded["univariate"].items()) {
    CompareMixture(file["input"], {name}, one, name, result);
  }
  for (const auto& [name, joint] : recorded["multivariate"].items()) {
    std::vector<std::string> names;
    for (const auto& [parameter, unused] : joint["components"].items()) {
      names.push_back(parameter);
    }
    CompareMixture(file["input"], names, joint, name, result);
  }
}

Observation TrialOf(const json& recorded) {
  static const std::map<std::string, TrialState> kStates = {
      {"COMPLETE", TrialState::kSucceeded}, {"PRUNED", TrialState::kPruned},
      {"RUNNING", TrialState::kRunning},    {"FAIL", TrialState::kFailed},
      {"WAITING", TrialState::kQueued}};
  Observation trial;
  trial.number = recorded["number"];
  trial.state = kStates.at(recorded["state"]);
  if (!recorded["values"].is_null()) trial.values = NumbersOf(recorded["values"]);
  for (const json& value : recorded["intermediate_values"]) {
    trial.intermediate.push_back({value[0], NumberOf(value[1])});
  }
  std::sort(trial.intermediate.begin(), trial.intermediate.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
  if (!recorded["constraints"].is_null()) {
    trial.constraints = NumbersOf(recorded["constraints"]);
  }
  return trial;
}

void CheckSplit(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  std::vector<Objective> objectives;
  for (const json& direction : file["input"]["directions"]) {
    objectives.push_back({"m" + std::to_string(objectives.size()),
                          direction == "minimize" ? Direction::kMinimize
                                                  : Direction::kMaximize});
  }
  std::vector<SplitKey> keys(file["input"]["trials"].size());
  std::vector<KeyedTrial> trials;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Observation trial = TrialOf(file["input"]["trials"][i]);
    const auto key = SplitKeyOf(trial, objectives);
    if (!key.has_value()) continue;
    keys[i] = *key;
    ended += key->group == SplitGroup::kRunning ? 0 : 1;
    trials.push_back({trial.number, static_cast<std::uint32_t>(i), &keys[i]});
  }
  for (const auto& [name, split] : file["results"][kVersion].items()) {
    const bool liar = name.find("liar=True") != std::string::npos;
    std::vector<KeyedTrial> used = trials;
    std::erase_if(used, [liar](const KeyedTrial& trial) {
      return !liar && trial.key->group == SplitGroup::kRunning;
    });
    const Split ours = SplitTrials(used, split["n_below"]);
    result.True(name + " below", split["below"] == json(ours.below));
    result.True(name + " above", split["above"] == json(ours.above));
    if (name.find("default_gamma") != std::string::npos) {
      result.True(name + " count", CountBelow(ended, objectives.size()) ==
                                       split["n_below"].get<std::size_t>());
    }
  }
}

void CheckTruncatedNormal(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const json& recorded = file["results"][kVersion];
  for (const json& one : recorded["cases"]) {
    const double a = NumberOf(one["a"]), b = NumberOf(one["b"]);
    // The recorder subtracts nearly equal numbers where an interval is narrow.
    const double tolerance = b - a < 1e-3 ? 1e-15 * 1e3 / (b - a) : 1e-12;
    result.Near("log_mass", NumberOf(one["log_mass"]), LogNormalMass(a, b),
                tolerance);
    for (std::size_t i = 0; i < one["x"].size(); ++i) {
      result.Near("logpdf", NumberOf(one["logpdf"][i]),
                  TruncatedNormalLogPdf(NumberOf(one["x"][i]), a, b), tolerance);
    }
    for (std::size_t i = 0; i < one["q"].size(); ++i) {
      const double q = NumberOf(one["q"][i]);
      // One rounding of such a q is a sizeable part of 1 - q.
      if (q < 1.0 && q > 1.0 - 1e-12) continue;
      result.Near("ppf", NumberOf(one["ppf_scipy"][i]),
                  TruncatedNormalPpf(q, a, b), 1e-9);
    }
  }
  const json& cdf = recorded["log_ndtr"];
  for (std::size_t i = 0; i < cdf["x"].size(); ++i) {
    result.Near("log_ndtr", NumberOf(cdf["scipy"][i]),
                LogNormalCdf(NumberOf(cdf["x"][i])), 1e-12);
  }
}

// Options by our names for them.
std::map<std::string, std::string> PrunerOptions(const json& recorded) {
  const std::map<std::string, std::string> names = {
      {"n_startup_trials", "startup_trials"},
      {"n_warmup_steps", "warmup_steps"},
      {"interval_steps", "interval"},
      {"n_min_trials", "min_trials"}};
  std::map<std::string, std::string> options;
  for (const auto& [name, value] : recorded.items()) {
    if (names.contains(name)) options[names.at(name)] = value.dump();
  }
  return options;
}

void Replay(const json& events, Pruner& pruner, ParityResult& result) {
  History history;
  for (const json& event : events) {
    Observation trial;
    trial.number = event["trial"];
    const Observation* const known = history.Find(trial.number);
    if (known != nullptr) trial = *known;
    const std::string what = event["op"];
    trial.state = TrialState::kRunning;
    if (what == "end") {
      const std::string state = event["state"];
      trial.state = state == "COMPLETE" ? TrialState::kSucceeded
                    : state == "PRUNED" ? TrialState::kPruned
                                        : TrialState::kFailed;
    } else if (what == "report") {
      trial.intermediate.push_back({event["step"], NumberOf(event["value"])});
    }
    history.Put(trial);
    if (what != "report") continue;
    result.True("trial " + std::to_string(trial.number) + " at step " +
                    event["step"].dump(),
                pruner.Judge(history, trial.number).prune == event["prune"]);
  }
}

void CheckMedianPruner(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const json& options = file["input"]["options"];
  const bool maximize = options.value("direction", "minimize") == "maximize";
  for (const auto& [name, run] : file["results"][kVersion].items()) {
    const auto pruner = MakePruner(
        {.name = "median", .options = PrunerOptions(options)},
        {{"value", maximize ? Direction::kMaximize : Direction::kMinimize}});
    if (!pruner.ok()) return result.Fail(std::string(pruner.status().message()));
    Replay(run["events"], **pruner, result);
  }
}

const bool kRegistered =
    RegisterParity("tpe_density", R"(tpe_density_.*\.json)", CheckDensity) &&
    RegisterParity("tpe_split", R"(tpe_split_.*\.json)", CheckSplit) &&
    RegisterParity("truncnorm", R"(truncnorm.*\.json)", CheckTruncatedNormal) &&
    RegisterParity("pruner", R"(pruner_median_.*\.json)", CheckMedianPruner);

}  // namespace
}  // namespace frostline
