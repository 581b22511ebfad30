// SPDX-License-Identifier: Apache-2.0
//
// How good the best trial is after 50, 100 and 200 trials: medians over 30
// seeds, beside the recorded runs of Optuna's TPE over integer levels.
//
//   best.OBJ.N.median.SAMPLER    OBJ i, ii, iii; also OBJ.frozen, OBJ.noise,
//                                OBJ.failures, OBJ.workers64 and, as the
//                                coordinator begins them, OBJ.ramp64
//   best.OBJ.N.p_worse.SAMPLER   one-sided Mann-Whitney against the recording
//   best.OBJ.N.p_better.SAMPLER
//
// With --truths FILE: best.CASE.N.median.SAMPLER, of targets to maximise.
// --quick leaves out the variants; of truths it runs 10 seeds instead of 30.
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/plain/statistics.h"
#include "tests/bench/bench_main.h"
#include "tests/search/search_run.h"
#include "tests/search/truths.h"

namespace frostline::bench {
namespace {

constexpr int kSeeds = 30;
constexpr const char* kRecorded = "tests/search/optuna_runs.json";
const std::vector<std::string> kSamplers = {"random", "tpe", "auto"};

std::string KeyOf(const std::string& objective, int trials,
                  const std::string& what, const std::string& sampler) {
  return "best." + objective + "." + std::to_string(trials) + "." + what + "." +
         sampler;
}

void PrintMedians(const Bench& bench, const test::SearchObjective& objective,
                  const test::SearchSetup& setup, double sign, int seeds) {
  const test::Sweep sweep = test::RunSweep(objective, setup, seeds);
  for (const auto& [trials, best] : sweep) {
    bench.Figure(KeyOf(objective.name, trials, "median", setup.sampler.name),
                 sign * Quantile(best, 0.5));
  }
}

void PrintBeside(const Bench& bench, const test::SearchObjective& objective,
                 const std::string& sampler, const nlohmann::json& recorded) {
  const test::Sweep sweep = test::RunSweep(
      objective, {.sampler = {.name = sampler, .options = {}}}, kSeeds);
  for (const auto& result : sweep) {
    const int trials = result.first;
    const std::vector<double>& best = result.second;
    const auto theirs = recorded.at("tpe_int")
                            .at(objective.name)
                            .at(std::to_string(trials))
                            .get<std::vector<double>>();
    const auto figure = [&](const std::string& what, double value) {
      bench.Figure(KeyOf(objective.name, trials, what, sampler), value);
    };
    figure("median", Quantile(best, 0.5));
    figure("p_worse", test::ProbabilityNotGreater(best, theirs));
    figure("p_better", test::ProbabilityNotGreater(theirs, best));
  }
}

void PrintRecorded(const Bench& bench, const nlohmann::json& recorded) {
  for (const auto& [sampler, objectives] : recorded.at("medians").items()) {
    for (const auto& [objective, medians] : objectives.items()) {
      for (const auto& [trials, median] : medians.items()) {
        bench.Figure(
            KeyOf(objective, std::stoi(trials), "median", "optuna_" + sampler),
            median.get<double>());
      }
    }
  }
}

// Noise of a fifth of the deviation of a random point's loss, about.
test::SearchSetup VariantOf(const std::string& variant,
                            const std::string& sampler) {
  test::SearchSetup setup{.sampler = {.name = sampler, .options = {}}};
  if (variant == "noise") setup.noise_sd = 0.5;
  if (variant == "failures") setup.failure_share = 0.2;
  setup.ramps = variant == "ramp64";
  if (variant == "workers64" || setup.ramps) setup.workers = 64;
  return setup;
}

void RunLayerwise(const Bench& bench) {
  std::ifstream file(std::string(FROSTLINE_SOURCE_DIR) + "/" + kRecorded);
  const nlohmann::json recorded = nlohmann::json::parse(file);
  PrintRecorded(bench, recorded);
  for (const std::string& sampler : kSamplers) {
    for (const test::SearchObjective& objective : test::LayerwiseObjectives()) {
      PrintBeside(bench, objective, sampler, recorded);
      for (const char* variant : {"noise", "failures", "workers64", "ramp64"}) {
        if (bench.quick()) break;
        test::SearchObjective renamed = objective;
        renamed.name += std::string(".") + variant;
        PrintMedians(bench, renamed, VariantOf(variant, sampler), 1.0, kSeeds);
      }
    }
    if (bench.quick()) continue;
    for (const test::SearchObjective& objective : test::FrozenIsDifferent()) {
      PrintMedians(bench, objective, VariantOf("", sampler), 1.0, kSeeds);
    }
  }
}

void RunTruths(const Bench& bench) {
  for (const test::Truth& truth : test::ReadTruths(bench.file())) {
    const test::SearchObjective objective{
        truth.name, truth.MakeSpace(),
        [&truth](const Point& point) { return -truth.Target(point); }};
    for (const std::string& sampler : kSamplers) {
      PrintMedians(bench, objective, VariantOf("", sampler), -1.0,
                   bench.quick() ? 10 : kSeeds);
    }
  }
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(
      argc, argv, "--truths", [](const frostline::bench::Bench& bench) {
        bench.file().empty() ? frostline::bench::RunLayerwise(bench)
                             : frostline::bench::RunTruths(bench);
      });
}
