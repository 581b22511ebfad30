// SPDX-License-Identifier: Apache-2.0
//
// Seconds of real trials: MiniLM (6 layers of 384) on 256 short reviews, one
// epoch in batches of 32, two slots of one node that other programs shared, so
// that equal trials differ by tens of percent. All that was frozen from below
// went through the prefix store.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "sampler/cost.h"

namespace frostline::sampler {
namespace {

struct RecordedTrial {
  const char* levels;  // the depth, then of each layer above it the level
  double seconds;
  double computed;  // rows of its prefix; -1: it used none
};

constexpr RecordedTrial kTrials[] = {
#include "tests/sampler/cost/recorded_trials.inc"
};

Space RecordedSpace() {
  std::vector<Parameter> parameters = {
      {"prefix_depth", IntRange{0, 6, 1, false}, {}}};
  std::vector<ModuleBinding> modules = {{"embeddings", {}, 0.0, {}}};
  for (int i = 0; i < 6; ++i) {
    const std::string module = "layer." + std::to_string(i);
    parameters.push_back({module, Levels{{0, 1e-4, 3e-4}},
                          Condition{0, {}, 0.0, static_cast<double>(i)}});
    modules.push_back({module, i + 1, 0.0, i});
  }
  modules.push_back({"pooler", {}, 1e-3, {}});
  modules.push_back({"head", {}, 1e-3, {}});
  return Space(parameters, modules, 0);
}

Observation ObservationOf(std::int64_t number, const RecordedTrial& recorded) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kSucceeded;
  for (const char level : std::string(recorded.levels)) {
    trial.point.push_back(level == '-' ? kAbsent
                                       : static_cast<double>(level - '0'));
  }
  trial.values = {0.0};
  trial.use = {.seconds = static_cast<float>(recorded.seconds),
               .device = 1,
               .prefix_computed = static_cast<float>(recorded.computed)};
  return trial;
}

struct Told {
  double error = 0.0;  // the median of later trials, boundaries being there
  bool knows = false;
};

Told AfterTrials(const Space& space, std::size_t count) {
  History history;
  for (std::size_t i = 0; i < count; ++i) {
    history.Put(ObservationOf(static_cast<std::int64_t>(i), kTrials[i]));
  }
  CostModel cost(space);
  cost.CatchUp(history);
  std::vector<double> errors;
  for (std::size_t i = count; i < std::size(kTrials); ++i) {
    if (kTrials[i].computed > 0.0) continue;
    const Point point = ObservationOf(0, kTrials[i]).point;
    errors.push_back(std::abs(cost.SecondsOf(point) / kTrials[i].seconds - 1));
  }
  std::sort(errors.begin(), errors.end());
  const double error = errors[errors.size() / 2];
  std::printf(
      "after %zu trials: %.3f of %zu later ones, %.3f of those kept "
      "out\n",
      count, error, errors.size(), cost.error());
  return {error, cost.knows()};
}

TEST(RecordedTrials, ArePredictedAfterTenOthers) {
  const Space space = RecordedSpace();
  EXPECT_LE(AfterTrials(space, 10).error, 0.15);
  for (const std::size_t count : {10U, 15U, 20U, 30U}) {
    const Told told = AfterTrials(space, count);
    EXPECT_TRUE(told.knows);
    EXPECT_LE(told.error, 0.2);
  }
}

}  // namespace
}  // namespace frostline::sampler
