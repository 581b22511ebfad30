// SPDX-License-Identifier: Apache-2.0
//
// File: compat_tpe.h
//
// Streams come from outside: a study gives each trial its own, a replay of an
// Optuna run the same two to all. Where Optuna's result depends on more than
// the history, ours is that of a sampler made anew: grouped blocks are ordered
// by trial number, and values that a running trial drew for branches not taken
// are unknown.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_TPE_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_TPE_H_

#include <cstdint>
#include <vector>

#include "sampler/optuna/compat_blocks.h"
#include "sampler/optuna/compat_mixture.h"
#include "sampler/optuna/compat_space.h"
#include "sampler/optuna/compat_trials.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

struct CompatOptions {
  OptunaVersion version = OptunaVersion::kV5;
  std::size_t startup_trials = 10;
  std::size_t candidates = 24;
  bool multivariate = true;
  bool group = false;  // REQUIRES: multivariate
  bool constant_liar = true;
  bool levels_are_integers = false;
};

// TPESampler(seed=…) has another of equal seed for its RandomSampler, which
// draws until enough trials have ended.
struct CompatStreams {
  explicit CompatStreams(std::uint32_t seed) : tpe(seed), startup(seed) {}
  NumpyStream tpe;
  NumpyStream startup;
};

// It has one owner thread at a time.
class CompatTpe {
 public:
  CompatTpe(const CompatOptions& options, const Space& space,
            std::vector<Objective> objectives);
  CompatTpe(const CompatTpe&) = delete;
  CompatTpe& operator=(const CompatTpe&) = delete;

  Point Propose(const History& history, std::int64_t number,
                CompatStreams& streams);

 private:
  void DrawBlock(const CompatBlock& block, const CompatView& view,
                 NumpyStream& stream, CompatRow& row) const;
  CompatMixture Fit(const CompatBlock& block, const CompatView& view,
                    bool is_below) const;

  CompatOptions options_;
  CompatSpace space_;
  std::vector<Objective> objectives_;
  CompatTrials trials_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_TPE_H_
