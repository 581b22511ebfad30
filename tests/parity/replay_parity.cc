// SPDX-License-Identifier: Apache-2.0
//
// Whole runs of Optuna's TPESampler, proposal by proposal: the algorithm of
// `compat` is given the run's streams and, before each proposal, the history
// that Optuna had.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "sampler/optuna/compat.h"
#include "tests/parity/parity.h"

namespace frostline::test {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ReplayNumberOf(const json& value) {
  if (value.is_null()) return kAbsent;
  if (!value.is_string()) return value.get<double>();
  const std::string word = value.get<std::string>();
  return word == "nan" ? std::nan("") : word == "-inf" ? -kInfinity : kInfinity;
}

std::vector<double> ReplayNumbersOf(const json& values) {
  std::vector<double> numbers;
  for (const json& value : values) numbers.push_back(ReplayNumberOf(value));
  return numbers;
}

Domain ReplayDomainOf(const json& recorded) {
  if (recorded.at("type") == "rate") {
    return LogUniform{recorded.at("low"), recorded.at("high"), true};
  }
  if (recorded.at("type") == "levels") {
    Levels levels;
    for (int i = 0; i < recorded.at("n"); ++i) levels.rates.push_back(i);
    return levels;
  }
  if (recorded.at("type") == "categorical") {
    Categorical choices;
    for (int i = 0; i < recorded.at("n"); ++i) {
      choices.choices.push_back(std::to_string(i));
    }
    return choices;
  }
  if (recorded.at("type") == "int") {
    return IntRange{recorded.at("low"), recorded.at("high"),
                    recorded.at("step"), recorded.at("log")};
  }
  return FloatRange{
      recorded.at("low"), recorded.at("high"),
      recorded.at("step").is_null() ? 0.0 : recorded.at("step").get<double>(),
      recorded.at("log")};
}

// "order" says in which order a trial asks for its parameters, "conditions"
// for which values of another one it does.
Space SpaceOf(const json& file) {
  std::vector<std::string> order;
  for (const auto& [name, unused] : file.at("space").items()) {
    order.push_back(name);
  }
  if (file.contains("order")) order = file.at("order");
  std::map<std::string, int> index_of;
  std::vector<Parameter> parameters;
  for (const std::string& name : order) {
    Parameter parameter{name, ReplayDomainOf(file.at("space").at(name)), {}};
    if (file.contains("conditions") && file.at("conditions").contains(name)) {
      const json& recorded = file.at("conditions").at(name);
      parameter.condition =
          Condition{index_of.at(recorded.at("parent")),
                    ReplayNumbersOf(recorded.at("values")), 0, 0};
    }
    index_of[name] = static_cast<int>(parameters.size());
    parameters.push_back(std::move(parameter));
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

sampler::SamplerInput InputOf(const json& file, const std::string& version) {
  static const std::map<std::string, std::string> kNames = {
      {"n_startup_trials", "startup_trials"},
      {"n_ei_candidates", "candidates"}};
  sampler::SamplerInput input;
  input.options["compat"] = version.substr(0, 1) == "4" ? "v4" : "v5";
  for (const auto& [name, value] : file.at("sampler").items()) {
    const auto ours = kNames.find(name);
    input.options[ours == kNames.end() ? name : ours->second] =
        value.is_string() ? value.get<std::string>() : value.dump();
  }
  input.space = SpaceOf(file);
  for (const std::string direction :
       file.value("directions", json::array({"minimize"}))) {
    input.objectives.push_back({"m" + std::to_string(input.objectives.size()),
                                direction == "minimize"
                                    ? Direction::kMinimize
                                    : Direction::kMaximize});
  }
  return input;
}

TrialState StateOf(const std::string& recorded) {
  return recorded == "complete" ? TrialState::kSucceeded
         : recorded == "pruned" ? TrialState::kPruned
                                : TrialState::kFailed;
}

// One run, with the streams that go on from trial to trial.
class ReplayedStudy {
 public:
  ReplayedStudy(const sampler::SamplerInput& input,
                const sampler::CompatOptions& options, std::uint32_t seed,
                ParityResult& result)
      : input_(input),
        tpe_(options, input.space, input.objectives),
        streams_(seed),
        result_(result) {}

  // The recorded values become the trial's, so that a difference shows once.
  void Ask(std::int64_t number, const Point& recorded) {
    const Point ours = tpe_.Propose(history_, number, streams_);
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const Parameter& parameter = input_.space.parameters()[i];
      const std::string what =
          "trial " + std::to_string(number) + " " + parameter.name;
      if (std::holds_alternative<Categorical>(parameter.domain) ||
          IsAbsent(recorded[i]) || IsAbsent(ours[i])) {
        result_.True(what + " = " + std::to_string(recorded[i]) + ", ours " +
                         std::to_string(ours[i]),
                     SamePoint({recorded[i]}, {ours[i]}));
        continue;
      }
      // Relative to the value itself: learning rates are small.
      const double scale = recorded[i] == 0.0 ? 1.0 : std::abs(recorded[i]);
      result_.Near(what, recorded[i] / scale, ours[i] / scale, 1e-9);
    }
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kRunning;
    trial.point = recorded;
    history_.Put(std::move(trial));
  }

  Observation Known(std::int64_t number) const {
    return *history_.Find(number);
  }
  void Put(Observation trial) {
    std::sort(trial.intermediate.begin(), trial.intermediate.end(),
              [](const auto& a, const auto& b) { return a.step < b.step; });
    history_.Put(std::move(trial));
  }

 private:
  const sampler::SamplerInput& input_;
  sampler::CompatTpe tpe_;
  sampler::CompatStreams streams_;
  ParityResult& result_;
  History history_;
};

// [{params, value, state, intermediate}, …]: one trial ends before the next.
void ReplayTrials(const json& trials, const Space& space,
                  ReplayedStudy& replay) {
  for (std::size_t n = 0; n < trials.size(); ++n) {
    Point point;
    for (const Parameter& parameter : space.parameters()) {
      point.push_back(
          ReplayNumberOf(trials[n].at("params").at(parameter.name)));
    }
    const auto number = static_cast<std::int64_t>(n);
    replay.Ask(number, point);
    Observation trial = replay.Known(number);
    trial.state = StateOf(trials[n].at("state"));
    if (!trials[n].at("value").is_null()) {
      trial.values = {ReplayNumberOf(trials[n].at("value"))};
    }
    for (const auto& [step, value] : trials[n].at("intermediate").items()) {
      trial.intermediate.push_back({std::stoll(step), ReplayNumberOf(value)});
    }
    replay.Put(std::move(trial));
  }
}

// [["ask", number, values], ["report", number, step, value],
//  ["tell", number, state, values, constraints], …]: several run at once.
void ReplayEvents(const json& events, ReplayedStudy& replay) {
  for (const json& event : events) {
    const std::string what = event.at(0);
    const std::int64_t number = event.at(1);
    if (what == "ask") {
      replay.Ask(number, ReplayNumbersOf(event.at(2)));
      continue;
    }
    Observation trial = replay.Known(number);
    if (what == "report") {
      trial.intermediate.push_back({event.at(2), ReplayNumberOf(event.at(3))});
    } else {
      trial.state = StateOf(event.at(2));
      trial.values = ReplayNumbersOf(event.at(3));
      trial.constraints = ReplayNumbersOf(event.at(4));
    }
    replay.Put(std::move(trial));
  }
}

void CheckReplay(const std::string& path, ParityResult& result) {
  const json file = ReadJson(path);
  for (const auto& [version, recorded] : file.at("runs").items()) {
    const json& run =
        recorded.is_object()
            ? file.at("runs").at(recorded.at("same_as").get<std::string>())
            : recorded;
    const sampler::SamplerInput input = InputOf(file, version);
    const auto options = sampler::ReadCompatOptions(input);
    if (!options.ok()) {
      return result.Fail(std::string(options.status().message()));
    }
    ReplayedStudy replay(input, *options, file.at("seed"), result);
    if (run.at(0).is_object()) {
      ReplayTrials(run, input.space, replay);
    } else {
      ReplayEvents(run, replay);
    }
  }
}

const bool kReplayRegistered =
    RegisterParity("tpe_replay", R"(tpe_replay_.*\.json)", CheckReplay);

}  // namespace
}  // namespace frostline::test
