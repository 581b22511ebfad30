// SPDX-License-Identifier: Apache-2.0
//
// File: plan_trials.h
//
// Studies that plans are made for.
#ifndef FROSTLINE_TESTS_IMPORTANCE_PLAN_PLAN_TRIALS_H_
#define FROSTLINE_TESTS_IMPORTANCE_PLAN_PLAN_TRIALS_H_

#include <cmath>
#include <string>
#include <vector>

#include "tests/importance/trials.h"

namespace frostline::importance {

// layer.0, layer.1 and so on, listed backwards; level 0 is frozen.
inline Space Modules(int count, int levels) {
  std::vector<ModuleBinding> modules;
  for (int m = count; m-- > 0;) {
    modules.push_back({"layer." + std::to_string(m), m, 0.0, std::nullopt});
  }
  return Space(LevelSpace(count, levels).parameters(), modules, std::nullopt);
}

// Layers 1 and 3 matter, each best at its last level but one.
inline double TwoMatter(const Point& p) {
  return 0.9 - 0.01 * std::abs(p[1] - 4.0) - 0.02 * std::abs(p[3] - 4.0);
}
inline double TwoMatterNoisily(const Point& p, Rng& rng) {
  return TwoMatter(p) + 0.01 * rng.Normal();
}

// Layers are substitutes, as they are in real models: each trained one takes
// its part off what is missing to .95.
inline double Substitutes(const Point& p) {
  double missing = 0.45;
  for (std::size_t m = 0; m < p.size(); ++m) {
    missing *= p[m] == 0.0 ? 1.0 : 1.0 - 0.2 * static_cast<double>(m + 1);
  }
  return 0.95 - missing;
}

// The same trials, none of which trained the module of one parameter. Scores
// stay.
inline History NeverTrained(const History& history, std::size_t parameter) {
  History frozen;
  for (Observation trial : history.trials()) {
    trial.point[parameter] = 0.0;
    frozen.Put(trial);
  }
  return frozen;
}

struct DemoTrial {
  Point point;
  double accuracy;
};

// The trials of a demo (TPE, 200 rows to evaluate on): embeddings, then six
// layers.
inline const std::vector<DemoTrial>& DemoTrials() {
  static const auto* const kTrials = new std::vector<DemoTrial>{
      {{0, 1, 1, 1, 2, 1, 1}, 0.78},  {{4, 4, 4, 0, 0, 4, 4}, 0.915},
      {{3, 2, 0, 2, 0, 1, 3}, 0.78},  {{3, 1, 3, 2, 4, 0, 1}, 0.86},
      {{1, 4, 4, 3, 3, 3, 0}, 0.93},  {{1, 3, 3, 1, 2, 3, 3}, 0.885},
      {{4, 0, 1, 4, 2, 0, 1}, 0.885}, {{2, 0, 2, 1, 1, 3, 0}, 0.81},
      {{2, 2, 3, 0, 4, 4, 3}, 0.91},  {{4, 0, 2, 3, 1, 0, 3}, 0.83},
      {{3, 0, 0, 3, 3, 1, 4}, 0.865}, {{1, 4, 4, 4, 3, 3, 0}, 0.895},
      {{1, 4, 4, 2, 4, 3, 0}, 0.865}, {{3, 4, 4, 0, 0, 4, 4}, 0.9},
      {{4, 4, 4, 0, 0, 4, 2}, 0.9},   {{1, 4, 4, 3, 3, 2, 1}, 0.92},
      {{0, 4, 4, 3, 2, 3, 0}, 0.92},  {{1, 4, 4, 3, 3, 1, 1}, 0.925},
      {{1, 2, 4, 3, 3, 2, 0}, 0.905}, {{1, 3, 3, 3, 3, 4, 0}, 0.885},
      {{1, 4, 4, 4, 3, 1, 0}, 0.86},  {{2, 4, 4, 3, 2, 3, 0}, 0.92},
      {{1, 4, 4, 3, 3, 0, 1}, 0.925}, {{1, 4, 3, 3, 3, 3, 0}, 0.92},
      {{1, 4, 4, 3, 3, 4, 1}, 0.815}, {{2, 4, 4, 3, 4, 2, 0}, 0.895},
      {{0, 4, 4, 2, 3, 1, 0}, 0.91},  {{1, 4, 4, 3, 3, 0, 0}, 0.925},
      {{1, 4, 4, 3, 3, 0, 2}, 0.92},  {{1, 4, 4, 3, 3, 2, 0}, 0.915},
      {{1, 4, 1, 3, 3, 3, 1}, 0.9},   {{1, 4, 4, 3, 3, 4, 0}, 0.815},
      {{1, 4, 4, 3, 3, 3, 1}, 0.925}, {{1, 4, 0, 3, 3, 1, 0}, 0.865},
      {{1, 4, 4, 2, 3, 1, 1}, 0.91},  {{1, 3, 4, 3, 3, 1, 1}, 0.925}};
  return *kTrials;
}

inline Space DemoSpace() {
  const Levels rates{{0.0, 2e-5, 1e-4, 3e-4, 1e-3}};
  std::vector<Parameter> parameters;
  std::vector<ModuleBinding> modules;
  for (int m = 0; m < 7; ++m) {
    const std::string name =
        m == 0 ? "embeddings" : "layer." + std::to_string(m - 1);
    parameters.push_back({name, rates, {}});
    modules.push_back({name, m, 0.0, {}});
  }
  modules.push_back({"head", std::nullopt, 1e-3, {}});
  return Space(parameters, modules, std::nullopt);
}

inline History DemoHistory() {
  History history;
  for (const DemoTrial& trial : DemoTrials()) {
    history.Put(Succeeded(static_cast<std::int64_t>(history.size()),
                          trial.point, trial.accuracy));
  }
  return history;
}

}  // namespace frostline::importance

#endif  // FROSTLINE_TESTS_IMPORTANCE_PLAN_PLAN_TRIALS_H_
