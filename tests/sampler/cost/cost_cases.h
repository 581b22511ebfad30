// SPDX-License-Identifier: Apache-2.0
//
// File: cost_cases.h
//
// A small encoder whose trials take known seconds.
#ifndef FROSTLINE_TESTS_SAMPLER_COST_COST_CASES_H_
#define FROSTLINE_TESTS_SAMPLER_COST_COST_CASES_H_

#include <string>
#include <utility>
#include <vector>

#include "study/history.h"
#include "study/space.h"

namespace frostline::sampler {

// Four layers below a searched depth, of two levels each; embeddings frozen,
// the head trained. More parameters stand behind them.
inline Space FourLayers(std::vector<Parameter> more = {}) {
  std::vector<Parameter> parameters = {
      {"prefix_depth", IntRange{0, 4, 1, false}, {}}};
  std::vector<ModuleBinding> modules = {{"embeddings", {}, 0.0, {}}};
  for (int i = 0; i < 4; ++i) {
    const std::string module = "layer." + std::to_string(i);
    parameters.push_back({module, Levels{{0, 1e-4}},
                          Condition{0, {}, 0.0, static_cast<double>(i)}});
    modules.push_back({module, i + 1, 0.0, i});
  }
  modules.push_back({"head", {}, 1e-3, {}});
  for (Parameter& one : more) parameters.push_back(std::move(one));
  return Space(parameters, modules, 0);
}

// Every layer above `depth` trains.
inline Point AllAbove(int depth, const std::vector<double>& more = {}) {
  Point point = {static_cast<double>(depth)};
  for (int i = 0; i < 4; ++i) point.push_back(i < depth ? kAbsent : 1.0);
  point.insert(point.end(), more.begin(), more.end());
  return point;
}

inline Observation TrialOf(std::int64_t number, const Point& point,
                           double seconds, float computed = -1.0F) {
  Observation trial;
  trial.number = number;
  trial.state = TrialState::kSucceeded;
  trial.point = point;
  trial.values = {0.0};
  trial.cost_s = seconds / 2.0;
  trial.use = {.seconds = static_cast<float>(seconds),
               .device = 1,
               .prefix_computed = computed};
  return trial;
}

}  // namespace frostline::sampler

#endif  // FROSTLINE_TESTS_SAMPLER_COST_COST_CASES_H_
