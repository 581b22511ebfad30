// SPDX-License-Identifier: Apache-2.0
//
// File: freezing.h
//
// What a study freezes of a model: the model's modules and the selectors that
// name them, named strategies with a rate for every module, and how much of
// the model's beginning a point or a whole space freezes.
#ifndef FROSTLINE_STUDY_FREEZING_H_
#define FROSTLINE_STUDY_FREEZING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "study/space.h"

namespace frostline {

// Selectors name the modules of a model. Modules are in depth order:
//
//   embeddings | layer.3 | layer.* | layer.0-3 | pooler | head
//   layer.3.attention | layer.*.ffn | layer.3.head.7 | layer.3.head.*
//   head.sst, of several tasks; "head" selects the heads of all then
//
// A module has one learning rate. A layer is one module or is cut finer
// (attention and ffn; attention heads), never both.

inline constexpr int kMaxLayers = 256;
inline constexpr int kMaxHeads = 256;

// What of a model decides which modules it has.
struct ModelShape {
  int num_layers = 0;       // 0: no layers (general HPO)
  int heads_per_layer = 0;  // 0: heads are not addressable
  bool has_pooler = true;
  std::vector<std::string> tasks = {};  // with a head of its own each
};

// Returns "embeddings", "layer.0" …, "pooler" if there is one, then "head" or
// the heads of the tasks.
std::vector<std::string> TopModules(const ModelShape& shape);

// Returns the modules that a selector names, in depth order. If there is none,
// the error is MODULE_UNKNOWN, which lists the modules of the model.
absl::StatusOr<std::vector<std::string>> SelectModules(
    const ModelShape& shape, const std::string& selector,
    const std::string& field);

// Returns the layer of a module, 3 for "layer.3.ffn"; -1 outside of the layers.
int LayerOf(const std::string& module);

// Says whether two modules share weights, as layer.3 and layer.3.ffn do, or
// layer.3.attention and layer.3.head.7.
bool Overlap(const std::string& a, const std::string& b);

// Strategies give a rate to every module. They serve modules that are not
// searched, and baselines.
//
//   full          every module at `rate`
//   head_only     pooler and head at `rate`, the rest frozen
//   first_k       the first k layers frozen, the rest train; embeddings as told
//   last_k        only the last k layers, pooler and head train
//   alternating   layers 0, 2, 4, … frozen; the rest train
//   decay         layer i at rate * factor^(L-1-i), embeddings one step below
//                 layer 0; pooler and head at `rate`

enum class StrategyKind {
  kFull,
  kHeadOnly,
  kFirstK,
  kLastK,
  kAlternating,
  kDecay
};

// A strategy with its numbers.
struct Strategy {
  StrategyKind kind = StrategyKind::kFull;
  double rate = 0.0;              // of the modules that train
  int k = 0;                      // first_k, last_k: 0 … L
  bool freeze_embeddings = true;  // first_k
  double factor = 1.0;            // decay: (0, 1]
};

// Returns the rate of each module, in depth order. Errors name `field`.
absl::StatusOr<std::vector<ModuleRate>> ApplyStrategy(const Strategy& strategy,
                                                      const ModelShape& shape,
                                                      const std::string& field);

// How much of a model's beginning a point or a space freezes. A frozen prefix
// is what trials can share: embeddings and the layers behind them, up to the
// first module that trains.
//
// If points are drawn evenly, a leading module with n independent levels, one
// of them frozen, ends the prefix with the chance 1 - 1/n. So of many such
// modules 1/n + 1/n^2 + ... = 1/(n - 1) are frozen on average: .17 for n = 7.

// Returns the depth of a point's prefix: embeddings and all layers below it are
// frozen. It is -1 if the embeddings train.
int FrozenPrefixOf(const Space& space, const Point& point);

// Returns for each number of leading modules (embeddings, layer.0, ...), from
// none to all, the chance that exactly that many are frozen. They sum to 1.
// `frozen_share` is that of a log-uniform rate with `freeze`. It is exact,
// since rates depend on no parameter but the prefix depth.
std::vector<double> FrozenPrefixChances(const Space& space, int layers,
                                        double frozen_share);

// Returns about how many trials tell what of a model can stay frozen: 3 for
// each value of a searched depth and 7 for each parameter that can freeze a
// module, and 24 at least; 0 where none can. Of recorded studies of seven
// modules half could name a set that is enough after 36 trials, nine in ten
// after 100 (docs/measured/tables.md).
std::int64_t TrialsToTell(const Space& space);
// The same, of so many parameters that can freeze a module.
std::int64_t TrialsToTell(std::int64_t parameters);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_FREEZING_H_
