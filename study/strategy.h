// SPDX-License-Identifier: Apache-2.0
//
// File: strategy.h
//
// Named freezing strategies: a rate for every module of a model. A study uses
// one for the modules its space does not search, and to enqueue baselines.
//
//   full          every module at `rate`
//   head_only     pooler and head at `rate`, the rest frozen
//   first_k       the first k layers frozen; embeddings as told; the rest train
//   last_k        only the last k layers, pooler and head train
//   alternating   layers 0, 2, 4, … frozen; the rest train
//   decay         full, but layer i at rate * factor^(L-1-i), embeddings one
//                 step below layer 0 (layer-wise decay)
#ifndef FROSTLINE_STUDY_STRATEGY_H_
#define FROSTLINE_STUDY_STRATEGY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "study/model_shape.h"
#include "study/space.h"

namespace frostline {

enum class StrategyKind {
  kFull,
  kHeadOnly,
  kFirstK,
  kLastK,
  kAlternating,
  kDecay
};

struct Strategy {
  StrategyKind kind = StrategyKind::kFull;
  double rate = 0.0;              // of what trains; > 0
  int k = 0;                      // first_k, last_k: 0 … L
  bool freeze_embeddings = true;  // first_k
  double factor = 1.0;            // decay: (0, 1]
};

// The rate of every top module, in depth order; an error naming `field` when
// the strategy does not fit the model.
absl::StatusOr<std::vector<ModuleRate>> ApplyStrategy(const Strategy& strategy,
                                                      const ModelShape& shape,
                                                      const std::string& field);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_STRATEGY_H_
