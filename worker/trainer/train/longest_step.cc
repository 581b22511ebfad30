// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/longest_step.h"

#include <cmath>

namespace frostline::trainer {
namespace {

Fault Unbounded(const char* cause, const char* fix) {
  return {
      FaultKind::kMisuse,
      std::string("freeze.virtual_tau needs steps that have a bound, and ") +
          cause,
      fix};
}

// By Cauchy and Schwarz |m| <= (1 - b1) sqrt(sum (b1^2 / b2)^i) sqrt(v / (1 -
// b2)); the corrections of the first steps make it smaller.
Expected<StepBound> OfAdam(const OptimizerOptions& options) {
  const double share = options.beta1 * options.beta1 / options.beta2;
  if (!(share < 1.0)) {
    return Unbounded("those of Adam have none unless beta1^2 is below beta2",
                     "raise training.extra.beta2, or leave virtual_tau out");
  }
  StepBound bound;
  bound.each =
      (1.0 - options.beta1) / std::sqrt((1.0 - options.beta2) * (1.0 - share));
  // Adam's decay is part of the gradient, so that it is bounded with it.
  if (options.kind == OptimizerKind::kAdamW) {
    bound.decay = options.weight_decay;
  }
  return bound;
}

}  // namespace

Expected<StepBound> LongestStep(const OptimizerOptions& options,
                                double clip_norm) {
  if (options.kind != OptimizerKind::kSgd) return OfAdam(options);
  if (clip_norm <= 0.0) {
    return Unbounded("sgd without clipping has none",
                     "give training.clip_norm, take adamw, or leave "
                     "virtual_tau out");
  }
  // Momentum u gathers at most 1 + u + u^2 + …
  const double gathered = 1.0 / (1.0 - options.momentum);
  return StepBound{0.0, clip_norm * gathered, options.weight_decay * gathered};
}

}  // namespace frostline::trainer
