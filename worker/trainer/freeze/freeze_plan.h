// SPDX-License-Identifier: Apache-2.0
//
// File: freeze_plan.h
//
// Says what a learning rate for each module means for each weight
// (docs/explanation/freezing.md).
//
// With adapters (model/model_config.h) the rate of a layer is that of its
// adapters (where ranks are by module, only that of a module with a rank), and
// where only biases train (Ben Zaken et al., 2022) that of its
// biases; the other weights of embeddings and layers stay, without a gradient
// under kLr0 too.
//
//   modules: embeddings, layer.0 .. layer.{L-1}, pooler, head (of several
//   tasks head.NAME each); finer where asked: layer.3.attention, layer.3.ffn,
//   layer.3.head.7. The finest that is named decides.
#ifndef FROSTLINE_WORKER_TRAINER_FREEZE_FREEZE_PLAN_H_
#define FROSTLINE_WORKER_TRAINER_FREEZE_FREEZE_PLAN_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/model/parameters.h"

namespace frostline::trainer {

using ModuleRates = std::map<std::string, double>;  // 0: frozen

enum class FreezeMode : std::uint8_t {
  kHard,  // no gradient: skipped
  kLr0,   // rate 0; the gradient counts when clipping
};

enum class PrefixDropout : std::uint8_t {
  kHf,   // on in a frozen prefix, as in transformers
  kOff,  // off there: its activations can be used again
};

enum class Tuned : std::uint8_t {
  kAll,
  kBiases,  // of embeddings and layers, with those of LayerNorms
};

struct FreezeSemantics {
  FreezeMode mode = FreezeMode::kHard;
  PrefixDropout prefix_dropout = PrefixDropout::kHf;
  Tuned tuned = Tuned::kAll;
};

// What happens to one weight, one of ParametersOf(config, heads).
struct ParameterPlan {
  double rate = 0.0;
  // They replace `rate` when attention heads differ.
  std::vector<double> head_rates;
  bool needs_gradient = false;
  // It does not train now, but has or will in another plan of the trial, so
  // that a checkpoint must have it.
  bool rests = false;

  bool trains() const;  // some of it
  double fastest() const;
};

struct FreezePlan {
  FreezeSemantics semantics;
  std::vector<ParameterPlan> parameters;
  // Nothing trains in these leading blocks: 0 none, 1 the embeddings, 1 + k
  // also k layers. The study's prefix depth is one less.
  std::int64_t prefix_blocks = 0;
  // These run without a graph: all when hard, none when lr0.
  std::int64_t frozen_blocks = 0;
  std::int64_t trained_weights = 0;  // single numbers, not tensors
  // A pooler that has a rate and is not there is worth a log, and so is a head
  // that is the embeddings' table.
  std::vector<std::string> absent;
};

// They are "embeddings", "layer.0" .., "pooler" where there is one, "head" or
// those of the tasks.
std::vector<std::string> ModuleNames(const ModelConfig& config,
                                     const Heads& heads);

std::string ModuleOf(const ParameterSpec& spec);
// Returns the finest module with a rate that decides on the weight, single
// attention heads apart; ModuleOf if none has a rate.
std::string DecidingModule(const ParameterSpec& spec, const ModuleRates& rates);
// Holds for the weights of layer.3.ffn of "layer.3.ffn" and of "layer.3".
bool IsWithin(const ParameterSpec& spec, const std::string& module);

// A rate without a module would be searched in vain. `model` is the id that
// faults name, `searched` are the trial's parameters: a study has a rate for
// the pooler and the head of every model, and may only not search them where
// there are none.
// Returns kMisuse naming module, model and its modules, or a rate that is
// negative or not finite.
Expected<Done> CheckModules(const std::string& model, const ModelConfig& config,
                            const Heads& heads, const ModuleRates& rates,
                            const std::set<std::string>& searched);

// Returns what CheckModules returns where nothing is searched, and
// kInconsistent for a module without a rate. With adapters, or biases alone, it
// also returns kMisuse for a rate that would move nothing, and with adapters
// for one of a single attention head.
Expected<FreezePlan> MakeFreezePlan(const ModelConfig& config,
                                    const Heads& heads,
                                    const ModuleRates& rates,
                                    const FreezeSemantics& semantics);

// Finds the modules whose rates are so small that training could not move them
// by what a study would notice (docs/explanation/freezing.md). Pure.

// One step of an optimizer moves no weight farther, whatever its gradients, in
// rates (train/optimizer.h). Both movements add up.
struct StepBound {
  double each = 0.0;      // of every single weight
  double together = 0.0;  // the L2 norm over all weights of a model
  double decay = 0.0;     // and beside them this part of the weight itself
};

// The size of a module's weights, without biases and norms.
struct WeightSize {
  double root_mean_square = 0.0;
  double count = 0.0;
};

// Returns the modules, not yet frozen, whose whole movement has a root mean
// square of at most `tau` times that of their weights. `factors` is the sum of
// the schedule over all steps. Modules without an entry in `sizes` are left
// alone, as all are when tau is 0.
std::vector<std::string> VirtuallyFrozen(
    const ModuleRates& rates, const std::map<std::string, WeightSize>& sizes,
    const StepBound& bound, double factors, double tau);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_FREEZE_PLAN_H_
