// SPDX-License-Identifier: Apache-2.0
//
// File: strategy.h
//
// Strategies serve modules not searched, and baselines.
//
//   full          every module at `rate`
//   head_only     pooler and head at `rate`, the rest frozen
//   first_k       the first k layers frozen, the rest train; embeddings as told
//   last_k        only the last k layers, pooler and head train
//   alternating   layers 0, 2, 4, … frozen; the rest train
//   decay         layer i at rate * factor^(L-1-i), embeddings one step below
//                 layer 0; pooler and head at `rate`
#ifndef FROSTLINE_STUDY_STRATEGY_H_
#define FROSTLINE_STUDY_STRATEGY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "study/freezing.h"
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
  double rate = 0.0;              // of what trains
  int k = 0;                      // first_k, last_k: 0 … L
  bool freeze_embeddings = true;  // first_k
  double factor = 1.0;            // decay: (0, 1]
};

// Rates are in depth order. Errors name `field`.
absl::StatusOr<std::vector<ModuleRate>> ApplyStrategy(const Strategy& strategy,
                                                      const ModelShape& shape,
                                                      const std::string& field);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_STRATEGY_H_
