// SPDX-License-Identifier: Apache-2.0
//
// TPE's densities, splits and truncated normals, and the decisions of pruners,
// against what Optuna 5 recorded.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "sampler/draw/random.h"
#include "sampler/optuna/compat_mixture.h"
#include "sampler/pruner/pruner.h"
#include "sampler/pruner/rungs.h"
#include "sampler/sampler.h"
#include "sampler/split.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr const char* kSamplerVersion = "5.0.0";

// What a version of Optuna computed; two of them may share one entry.
const json& RecordedBy(const json& file, const std::string& version) {
  const json& results = file.at("results");
  const json& one = results.at(version);
  return one.contains("same_as") ? results.at(one.at("same_as")) : one;
}

// Non-finite numbers are recorded as words.
double SamplerNumberOf(const json& value) {
  if (!value.is_string()) return value.get<double>();
  const std::string word = value.get<std::string>();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return word == "-inf" ? -infinity : infinity;
}

std::vector<double> SamplerNumbersOf(const json& values) {
  std::vector<double> numbers;
  for (const json& value : values) numbers.push_back(SamplerNumberOf(value));
  return numbers;
}

Domain DomainOf(const json& recorded) {
  const std::string type = recorded.at("type");
  if (type == "categorical") {
    Categorical choices;
    for (int i = 0; i < recorded.at("n_choices"); ++i) {
      choices.choices.push_back(std::to_string(i));
    }
    return choices;
  }
  if (type == "int") {
    return IntRange{recorded.at("low").get<std::int64_t>(),
                    recorded.at("high").get<std::int64_t>(),
                    recorded.at("step").get<std::int64_t>(),
                    recorded.at("log")};
  }
  return FloatRange{
      recorded.at("low"), recorded.at("high"),
      recorded.at("step").is_null() ? 0.0 : recorded.at("step").get<double>(),
      recorded.at("log")};
}

std::vector<sampler::NumericKernel> KernelsOf(const json& recorded) {
  std::vector<sampler::NumericKernel> kernels;
  for (std::size_t k = 0; k < recorded.at("mu").size(); ++k) {
    kernels.push_back({recorded.at("mu")[k], recorded.at("sigma")[k]});
  }
  return kernels;
}

// As `compat` fits them: kernel by kernel, each with its own width, even among
// equal centres.
void CompareCompatMixture(const json& input, const json& recorded,
                          sampler::KernelWidth width, const std::string& what,
                          ParityResult& result) {
  std::vector<Domain> domains;
  sampler::Columns observed, points;
  for (const auto& [name, component] : recorded.at("components").items()) {
    domains.push_back(DomainOf(input.at("distributions").at(name)));
    observed.push_back(SamplerNumbersOf(input.at("observations").at(name)));
    points.push_back(SamplerNumbersOf(input.at("points").at(name)));
    const auto range = sampler::NumericRangeOf(domains.back());
    if (!range.has_value()) continue;
    const auto expected = KernelsOf(component);
    const auto ours = sampler::FitCompatKernels(
        *range, observed.back(), width, recorded.at("components").size());
    result.True(what + " number of kernels", expected.size() == ours.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      result.Near(what + " mu", expected[k].mu, ours.at(k).mu, 1e-12);
      result.Near(what + " sigma", expected[k].sigma, ours[k].sigma, 1e-12);
    }
  }
  std::vector<const Domain*> pointers;
  for (const Domain& domain : domains) pointers.push_back(&domain);
  sampler::CompatMixture mixture(
      pointers, observed, sampler::CompatWeights(observed[0].size()), width);
  const std::vector<double> densities = mixture.LogDensity(points);
  for (std::size_t k = 0; k < mixture.weights().size(); ++k) {
    result.Near(what + " weight", SamplerNumberOf(recorded.at("weights")[k]),
                mixture.weights()[k], 1e-15);
  }
  for (std::size_t i = 0; i < densities.size(); ++i) {
    result.Near(what + " log_pdf", SamplerNumberOf(recorded.at("log_pdf")[i]),
                densities[i], 1e-10);
  }
}

void CompareCompatDensity(const json& input, const json& recorded,
                          const std::string& version, ParityResult& result) {
  for (const auto& [name, one] : recorded.at("univariate").items()) {
    CompareCompatMixture(input, one, sampler::KernelWidth::kNeighbours,
                         version + " " + name, result);
  }
  for (const auto& [name, joint] : recorded.at("multivariate").items()) {
    CompareCompatMixture(input, joint,
                         version[0] == '4' ? sampler::KernelWidth::kShared
                                           : sampler::KernelWidth::kNeighbours,
                         version + " " + name, result);
  }
}

void CheckDensity(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  for (const auto& [version, unused] : file.at("results").items()) {
    CompareCompatDensity(file.at("input"), RecordedBy(file, version), version,
                         result);
  }
}

Observation TrialOf(const json& recorded) {
  static const std::map<std::string, TrialState> kStates = {
      {"COMPLETE", TrialState::kSucceeded},
      {"PRUNED", TrialState::kPruned},
      {"RUNNING", TrialState::kRunning},
      {"FAIL", TrialState::kFailed},
      {"WAITING", TrialState::kQueued}};
  Observation trial;
  trial.number = recorded.at("number");
  trial.state = kStates.at(recorded.at("state"));
  if (!recorded.at("values").is_null())
    trial.values = SamplerNumbersOf(recorded.at("values"));
  for (const json& value : recorded.at("intermediate_values")) {
    trial.intermediate.push_back({value[0], SamplerNumberOf(value[1])});
  }
  std::sort(trial.intermediate.begin(), trial.intermediate.end(),
            [](const auto& a, const auto& b) { return a.step < b.step; });
  if (!recorded.at("constraints").is_null()) {
    trial.constraints = SamplerNumbersOf(recorded.at("constraints"));
  }
  return trial;
}

void CompareSplits(const json& file, const std::string& version,
                   ParityResult& result) {
  std::vector<Objective> objectives;
  for (const json& direction : file.at("input").at("directions")) {
    objectives.push_back({"m" + std::to_string(objectives.size()),
                          direction == "minimize" ? Direction::kMinimize
                                                  : Direction::kMaximize});
  }
  std::vector<sampler::SplitKey> keys(file.at("input").at("trials").size());
  std::vector<sampler::KeyedTrial> trials;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Observation trial = TrialOf(file.at("input").at("trials")[i]);
    const auto key = sampler::SplitKeyOf(trial, objectives);
    if (!key.has_value()) continue;
    keys[i] = *key;
    ended += key->group == sampler::SplitGroup::kRunning ? 0 : 1;
    trials.push_back({trial.number, static_cast<std::uint32_t>(i), &keys[i]});
  }
  for (const auto& [name, split] : RecordedBy(file, version).items()) {
    const bool liar = name.find("liar=True") != std::string::npos;
    std::vector<sampler::KeyedTrial> used = trials;
    std::erase_if(used, [liar](const sampler::KeyedTrial& trial) {
      return !liar && trial.key->group == sampler::SplitGroup::kRunning;
    });
    const sampler::Split ours = sampler::SplitTrials(used, split.at("n_below"));
    result.True(name + " below", split.at("below") == json(ours.below));
    result.True(name + " above", split.at("above") == json(ours.above));
    if (name.find("default_gamma") != std::string::npos) {
      // Optuna 4 stops at 25 with several objectives too.
      result.True(name + " count",
                  sampler::CountBelow(
                      ended, version[0] == '4' ? 1 : objectives.size()) ==
                      split.at("n_below").get<std::size_t>());
    }
  }
}

void CheckSplit(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  for (const auto& [version, unused] : file.at("results").items()) {
    CompareSplits(file, version, result);
  }
}

void CheckTruncatedNormal(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const json& recorded = file.at("results").at(kSamplerVersion);
  for (const json& one : recorded.at("cases")) {
    const double a = SamplerNumberOf(one.at("a")),
                 b = SamplerNumberOf(one.at("b"));
    // The recorder subtracts nearly equal numbers where an interval is narrow.
    const double tolerance = b - a < 1e-3 ? 1e-15 * 1e3 / (b - a) : 1e-12;
    result.Near("log_mass", SamplerNumberOf(one.at("log_mass")),
                sampler::LogNormalMass(a, b), tolerance);
    for (std::size_t i = 0; i < one.at("x").size(); ++i) {
      result.Near(
          "logpdf", SamplerNumberOf(one.at("logpdf")[i]),
          sampler::TruncatedNormalLogPdf(SamplerNumberOf(one.at("x")[i]), a, b),
          tolerance);
    }
    for (std::size_t i = 0; i < one.at("q").size(); ++i) {
      const double q = SamplerNumberOf(one.at("q")[i]);
      // Near 1 a rounding of q is a sizeable part of 1 - q, for the recorder.
      if (q < 1.0 && q > 1.0 - 1e-12) continue;
      const double tail = q == 1.0 ? 1.0 : 1.0 - q;
      result.Near("ppf", SamplerNumberOf(one.at("ppf_scipy")[i]),
                  sampler::TruncatedNormalPpf(q, a, b),
                  std::max(1e-12, 1e-17 / tail));
    }
  }
  const json& cdf = recorded.at("log_ndtr");
  for (std::size_t i = 0; i < cdf.at("x").size(); ++i) {
    result.Near("log_ndtr", SamplerNumberOf(cdf.at("scipy")[i]),
                sampler::LogNormalCdf(SamplerNumberOf(cdf.at("x")[i])), 1e-12);
  }
}

// Options by our names for them.
sampler::Options PrunerOptions(const json& recorded) {
  const std::map<std::string, std::string> names = {
      {"n_startup_trials", "startup_trials"},
      {"n_startup_steps", "startup_steps"},
      {"n_warmup_steps", "warmup_steps"},
      {"interval_steps", "interval"},
      {"n_min_trials", "min_trials"}};
  sampler::Options options;
  for (const auto& [name, value] : recorded.items()) {
    if (name == "direction" || value.is_null()) continue;
    if (name == "wrapped") {
      options["wraps"] = value.begin().key();
      for (const auto& [key, text] : PrunerOptions(value.begin().value())) {
        options["wraps." + key] = text;
      }
      continue;
    }
    const auto ours = names.find(name);
    options[ours == names.end() ? name : ours->second] =
        value.is_string() ? value.get<std::string>() : value.dump();
  }
  return options;
}

// A recording is called after its pruner and what is special about it.
std::string PrunerName(const json& input) {
  const std::string name = input.at("pruner");
  const std::string word = name.substr(0, name.find('_'));
  return word == "sha" ? "asha" : word;
}

void Apply(const json& event, History& history) {
  Observation trial;
  trial.number = event.at("trial");
  const Observation* const known = history.Find(trial.number);
  if (known != nullptr) trial = *known;
  const std::string what = event.at("op");
  trial.state = TrialState::kRunning;
  if (what == "end") {
    const std::string state = event.at("state");
    trial.state = state == "COMPLETE" ? TrialState::kSucceeded
                  : state == "PRUNED" ? TrialState::kPruned
                                      : TrialState::kFailed;
    if (!event.at("value").is_null()) {
      trial.values = {SamplerNumberOf(event.at("value"))};
    }
  } else if (what == "report") {
    // Recorded in any order of steps; a history has them rising.
    trial.intermediate.push_back(
        {event.at("step"), SamplerNumberOf(event.at("value"))});
    std::sort(trial.intermediate.begin(), trial.intermediate.end(),
              [](const auto& a, const auto& b) { return a.step < b.step; });
  }
  history.Put(std::move(trial));
}

// Asks a pruner that has seen every report, and one that has seen none: what a
// pruner remembers must follow from the history.
void Replay(const json& events, const sampler::PrunerSpec& spec,
            const Objective& objective, ParityResult& result) {
  const auto pruner = sampler::MakePruner(spec, {objective});
  if (!pruner.ok()) return result.Fail(std::string(pruner.status().message()));
  History history;
  for (const json& event : events) {
    Apply(event, history);
    if (event.at("op") != "report") continue;
    const std::int64_t number = event.at("trial");
    const std::string where = "trial " + std::to_string(number) + " at step " +
                              event.at("step").dump();
    const bool prune = event.at("prune");
    result.True(where, (*pruner)->Judge(history, number).prune == prune);
    const auto fresh = sampler::MakePruner(spec, {objective});
    result.True(where + ", asked once",
                (*fresh)->Judge(history, number).prune == prune);
  }
}

void CompareBrackets(const json& run, const json& options,
                     const std::string& study, ParityResult& result) {
  const std::int64_t reduction = options.value("reduction_factor", 3);
  const json& max = options.at("max_resource");
  if (max.is_number()) {
    result.True(
        "number of brackets",
        sampler::CountBrackets(options.at("min_resource"), max, reduction) ==
            run.at("n_brackets").get<std::size_t>());
  }
  const auto shares = sampler::BracketShares(run.at("n_brackets"), reduction);
  result.True("budgets", run.at("budgets") == json(shares));
  for (std::size_t n = 0; n < run.at("bracket_by_number_0_99").size(); ++n) {
    result.True(
        "bracket of trial " + std::to_string(n),
        run.at("bracket_by_number_0_99")[n] ==
            sampler::BracketOf(study, static_cast<std::int64_t>(n), shares));
  }
}

void CheckPruner(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  const json& options = file.at("input").at("options");
  sampler::PrunerSpec spec;
  spec.name = PrunerName(file.at("input"));
  spec.options = PrunerOptions(options);
  const bool maximize = options.value("direction", "minimize") == "maximize";
  const Objective objective = {
      "value", maximize ? Direction::kMaximize : Direction::kMinimize};
  for (const auto& [name, run] :
       file.at("results").at(kSamplerVersion).items()) {
    spec.study = run.at("study_name");
    Replay(run.at("events"), spec, objective, result);
    if (spec.name == "hyperband") {
      CompareBrackets(run, options, spec.study, result);
    }
  }
}

const bool kSamplerRegistered =
    RegisterParity("tpe_density", R"(tpe_density_.*\.json)", CheckDensity) &&
    RegisterParity("tpe_split", R"(tpe_split_.*\.json)", CheckSplit) &&
    RegisterParity("truncnorm", R"(truncnorm.*\.json)", CheckTruncatedNormal) &&
    RegisterParity("pruner", R"(pruner_.*\.json)", CheckPruner);

}  // namespace
}  // namespace frostline::test
