// SPDX-License-Identifier: Apache-2.0
//
// File: compat.h
//
// `tpe` with the option `compat` proposes what Optuna's TPESampler would have,
// v4 (4.9) or v5 (5.0). docs/reference/samplers.md has the options.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/optuna/compat_mixture.h"
#include "sampler/optuna/compat_trials.h"
#include "sampler/sampler.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

// Streams come from outside: a study gives each trial its own, a replay of an
// Optuna run the same two to all. Where Optuna's result depends on more than
// the history, ours is that of a sampler made anew: grouped blocks are ordered
// by trial number, and values that a running trial drew for branches not taken
// are unknown.

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

// Fails with SAMPLER_INVALID for a wrong option, or `group` without
// `multivariate`. Earlier studies are not read: Optuna has no warm start.
absl::StatusOr<std::unique_ptr<Sampler>> MakeCompatTpeSampler(
    const SamplerInput& input);

// REQUIRES: the option `compat` is given.
absl::StatusOr<CompatOptions> ReadCompatOptions(const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_H_
