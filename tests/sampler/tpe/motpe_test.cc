// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/motpe.h"

#include <algorithm>
#include <cmath>

#include "sampler/factory.h"
#include "sampler/split/pareto.h"
#include "tests/support/status_matchers.h"

namespace frostline::sampler {
namespace {

constexpr int kLayers = 12;

Space Layers() {
  std::vector<Parameter> all;
  for (int i = 0; i < kLayers; ++i) {
    all.push_back({"layer." + std::to_string(i),
                   Levels{{0, 2e-10, 2e-9, 2e-8, 2e-7, 2e-6, 2e-5}},
                   {}});
  }
  return Space(all, {}, {});
}

// Later layers matter more; a frozen prefix costs no backward pass.
std::vector<double> ErrorAndSeconds(const Point& point) {
  double error = 0.0, seconds = 0.0;
  bool prefix = true;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double best = 3.0 + static_cast<double>(i % 4);
    const double off = (point[i] - best) / 6.0;
    error += (1.0 + static_cast<double>(i)) / 78.0 * off * off;
    prefix = prefix && point[i] == 0.0;
    seconds += 1.0 + (prefix ? 0.0 : 1.0) + (point[i] == 0.0 ? 0.0 : 1.0);
  }
  return {error, seconds / (3.0 * kLayers)};
}

const std::vector<Objective> kBoth = {{"error", Direction::kMinimize},
                                      {"seconds", Direction::kMinimize}};

double VolumeAfter(const std::string& name, int trials, std::uint64_t seed) {
  auto sampler = MakeSampler({.name = name, .options = {}}, Layers(), kBoth);
  EXPECT_OK(sampler);
  History history;
  LossVectors losses;
  for (std::int64_t number = 0; number < trials; ++number) {
    Rng rng(seed, static_cast<std::uint64_t>(number));
    Observation trial;
    trial.number = number;
    trial.state = TrialState::kSucceeded;
    trial.point = *(*sampler)->Propose(history, number, rng);
    trial.values = ErrorAndSeconds(trial.point);
    losses.push_back(trial.values);
    history.Put(std::move(trial));
  }
  return Hypervolume(losses, {0.5, 1.0});
}

TEST(Motpe, FindsALargerFrontThanChance) {
  int wins = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    wins += VolumeAfter("motpe", 80, seed) > VolumeAfter("random", 80, seed);
  }
  EXPECT_GE(wins, 4);
}

TEST(Motpe, IsWhatTpeDoesUnderSeveralObjectives) {
  EXPECT_EQ(VolumeAfter("motpe", 30, 3), VolumeAfter("tpe", 30, 3));
}

TEST(Motpe, RefusesOneObjectiveAndReadsTheOptionsOfTpe) {
  EXPECT_THAT(MakeSampler({.name = "motpe", .options = {}}, Layers(),
                          {{"error", Direction::kMinimize}}),
              FailsAt(ErrorId::kSamplerInvalid, "sampler.name"));
  EXPECT_OK(MakeSampler({.name = "motpe", .options = {{"startup_trials", "5"}}},
                        Layers(), kBoth));
  EXPECT_THAT(MakeSampler({.name = "motpe", .options = {{"depth", "3"}}},
                          Layers(), kBoth),
              FailsAt(ErrorId::kSamplerInvalid, "sampler.options.depth"));
}

}  // namespace
}  // namespace frostline::sampler
