// SPDX-License-Identifier: Apache-2.0
//
// File: layer_rules.h
//
// Rules of the literature that say which layers train, so that a study can hold
// its own search against them. A rule chooses among the layers that have a
// rate; what it leaves out is frozen. Embeddings, pooler and heads keep their
// rates.
//
//   spectrum  The layers whose weights have the most signal. A matrix of n x m
//             with singular values s has a noise of sigma = IQR(s) / 1.349; by
//             Marchenko and Pastur noise alone has none above
//             sigma (1 + sqrt(min(n, m) / max(n, m))), and
//               snr = (sum of s above) / (sum of the others) / (largest s)
//             (Hartford et al., 2024, Spectrum). The authors train the best
//             matrices of each kind, e.g. of all queries; here a layer's place
//             is the mean of its matrices' places among their kinds.
//   gradient  The layers with the largest relative gradient, |g| / |w|, before
//             training (Lee et al., 2023, Surgical Fine-Tuning, Auto-RGN, which
//             scales rates by it).
//   lisa      A few layers, drawn anew every so many steps (Pan et al., 2024,
//             LISA, algorithm 1).
//   autofreeze  All at first. After every so many steps the lowest blocks
//             freeze whose gradients changed least (Liu et al., 2021,
//             AutoFreeze, section 4.1). The authors add up the gradients of
//             these steps; here their lengths are added up, which takes no
//             memory.
//
//   six layers, spectrum with a share of .5: the three of the best places;
//   lisa with 2 at once each 20 steps: layers 1 and 4, then 0 and 4, …
#ifndef FROSTLINE_WORKER_TRAINER_FREEZE_LAYER_RULES_H_
#define FROSTLINE_WORKER_TRAINER_FREEZE_LAYER_RULES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {

enum class LayerRule : std::uint8_t {
  kRates,
  kSpectrum,
  kGradient,
  kLisa,
  kAutoFreeze,
};

struct LayerChoice {
  LayerRule rule = LayerRule::kRates;  // all layers that have a rate
  double share = 0.5;                  // of all but lisa
  std::int64_t batches = 8;            // of gradient
  std::int64_t at_once = 2;            // of lisa
  std::int64_t every_steps = 20;       // of lisa and autofreeze

  bool any() const { return rule != LayerRule::kRates; }
};

// A figure for each module of a layer, by which a rule chooses.
using LayerScores = std::map<std::string, double>;

// Returns the modules among which a rule chooses, in depth order: layers with a
// rate above 0, or "layer.3.attention" and "layer.3.ffn" where these have one.
std::vector<std::string> LayersWithRate(const ModelConfig& config,
                                        const ModuleRates& rates);

// Returns the signal-to-noise ratio of a matrix, by the formula above; 0 for
// one that is all zeros. Throws what LibTorch throws.
double SignalToNoise(const at::Tensor& matrix);

// Returns the ratio of each matrix of the layers, by its name. It takes a
// singular value decomposition of each. Throws what LibTorch throws.
std::map<std::string, double> SignalsOf(const Model& model);

// Returns the place of each module, 1 for the best, from SignalsOf.
LayerScores PlacesBySignal(const Model& model, const ModuleRates& rates,
                           const std::map<std::string, double>& signals);

// Returns |g| / |w| of each module over all its weights. A gradient that is
// undefined is 0. Throws what LibTorch throws.
LayerScores RelativeGradients(const Model& model, const ModuleRates& rates,
                              const std::vector<at::Tensor>& gradients);

// Returns the best `share` of the modules, rounded down but at least one: of
// whole layers, and of attentions and feed forwards, where these have rates,
// each among their own kind. Of equal scores the lower layer is taken.
std::set<std::string> TopShare(const std::vector<std::string>& layers,
                               const LayerScores& scores, bool least_is_best,
                               double share);

// Returns the modules of the layers that are drawn for a turn, at most
// `at_once` layers. It is a function of its arguments alone.
std::set<std::string> DrawLayers(const std::vector<std::string>& layers,
                                 std::int64_t at_once, std::uint64_t seed,
                                 std::int64_t turn);

// What autofreeze has seen, and how many blocks it has frozen: whole layers,
// and the embeddings below them.
struct AutoFreezeState {
  std::size_t frozen = 0;  // of BlocksWithRate, the lowest first
  LayerScores before;      // lengths of the last interval's gradients, added up
  LayerScores now;         // of this interval, so far

  // Adds the gradients of a step. One that is not finite moved nothing, and
  // tells nothing.
  void Note(const std::vector<std::string>& blocks,
            const LayerScores& gradients);
  // Freezes after an interval, if there was one before it: each of the lowest
  // blocks whose change, |before - now| / before, is less than the quantile
  // `share` of those that train. Returns how many it froze. The last one always
  // trains.
  std::size_t EndInterval(const std::vector<std::string>& blocks, double share);
};

// Returns "embeddings" if they have a rate, then each layer of which a part
// has.
std::vector<std::string> BlocksWithRate(const ModelConfig& config,
                                        const ModuleRates& rates);

// Returns the rates with 0 for the blocks and their parts.
ModuleRates RatesWithout(const ModuleRates& rates,
                         std::span<const std::string> blocks);

// Returns the rates with 0 for those of `layers` that are not chosen.
ModuleRates RatesOfChosen(const ModuleRates& rates,
                          const std::vector<std::string>& layers,
                          const std::set<std::string>& chosen);

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_FREEZE_LAYER_RULES_H_
