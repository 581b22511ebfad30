// SPDX-License-Identifier: Apache-2.0
//
// What a study costs where its trials share frozen prefixes: beside our own
// trainer with rates of 0 and no sharing, and, with FROSTLINE_PEER_PYTHON,
// beside the Trainer of transformers under Optuna (peer.py). Every side has a
// process and one thread; they train the same points in turn, and a figure is
// processor seconds of all trials, evaluations and filling included.
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/study/side.h"

namespace frostline::bench {
namespace {

constexpr int kLayers = 6;
constexpr char kTrainer[] = FROSTLINE_BIN_DIR "/frostline-trainer";
constexpr char kPeer[] = FROSTLINE_SOURCE_DIR "/tests/bench/study/peer.py";

using Sides = std::vector<std::unique_ptr<Side>>;

// For each seed of a sweep the mean over its depths.
using BySeed = std::map<int, std::vector<double>>;

struct Sum {
  double seconds = 0.0;
  BySeed accuracies;
};

double Mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Returns the standard error of the mean over seeds.
double StandardError(const std::vector<double>& values) {
  if (values.size() < 2) return 0.0;
  const double mean = Mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(squares / (n - 1) / n);
}

std::vector<double> MeansOf(const BySeed& accuracies) {
  std::vector<double> means;
  for (const auto& [seed, some] : accuracies) means.push_back(Mean(some));
  return means;
}

// A new folder of prefixes for each sweep: nothing is there before it.
Sides Begin(const Sample& sample, const std::string& sweep) {
  const std::string folder = sample.folder() + "/" + sweep;
  const std::vector<std::string> ours = {
      kTrainer,    "--registry", sample.registry(), "--device", "cpu",
      "--threads", "1"};
  std::vector<std::string> sharing = ours;
  sharing.insert(sharing.end(), {"--prefix-dir", folder + "/prefixes"});
  Sides sides;
  const auto add = [&](const char* name,
                       const std::vector<std::string>& command, bool lr0) {
    sides.push_back(std::make_unique<Side>(Side::Spec{
        .name = name, .command = command, .lr0 = lr0, .folder = folder}));
  };
  add("ours", sharing, false);
  add("ours_lr0", ours, true);
  const char* const python = std::getenv("FROSTLINE_PEER_PYTHON");
  if (python == nullptr || *python == '\0') return sides;
  const std::vector<std::string> peer = {python, kPeer, sample.model(),
                                         sample.train(), sample.validation()};
  add("peer_lr0", peer, true);
  add("peer_hard", peer, false);
  return sides;
}

void RunSweep(const Bench& bench, const Sample& sample,
              const std::string& sweep, const std::vector<SweepTrial>& trials) {
  const Sides sides = Begin(sample, sweep);
  std::map<std::string, Sum> sums;
  for (const SweepTrial& trial : trials) {
    for (const auto& side : sides) {
      const SideResult result = side->Train(trial);
      std::cerr << sweep << " depth " << trial.depth << " seed " << trial.seed
                << " " << side->name() << ": " << result.seconds << " s, "
                << result.accuracy << "\n";
      sums[side->name()].seconds += result.seconds;
      sums[side->name()].accuracies[trial.seed].push_back(result.accuracy);
    }
  }
  const double ours = sums.at("ours").seconds;
  for (const auto& [name, sum] : sums) {
    const std::vector<double> means = MeansOf(sum.accuracies);
    bench.Figure(sweep + "_s." + name, sum.seconds);
    bench.Figure(sweep + "_accuracy." + name, Mean(means));
    bench.Figure(sweep + "_accuracy_se." + name, StandardError(means));
    if (name == "ours_lr0")
      bench.Figure(sweep + "_speedup", sum.seconds / ours);
    if (name.starts_with("peer_")) {
      bench.Figure("peer_" + sweep + name.substr(4), sum.seconds / ours);
    }
  }
}

void Run(const Bench& bench) {
  const std::string model = FindMiniLm();
  if (model.empty()) {
    std::cout << "bench study: skipped, as the demo's model is not there: run "
                 "`./dev setup demo` first\n";
    return;
  }
  const Sample sample(model);
  std::cerr << "bench study: MiniLM on " << sample.about() << "\n";
  const int seeds = bench.quick() ? 2 : 5;
  RunSweep(bench, sample, "elsa", ElsaSweep(kLayers, seeds));
  RunSweep(bench, sample, "mixed", MixedSweep(kLayers, seeds));
}

}  // namespace
}  // namespace frostline::bench

int main(int argc, char** argv) {
  return frostline::bench::RunBench(argc, argv, "", frostline::bench::Run);
}
