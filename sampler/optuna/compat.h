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
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/optuna/compat_mixture.h"
#include "sampler/optuna/numpy.h"
#include "sampler/sampler.h"
#include "sampler/split.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

enum class OptunaVersion { kV4, kV5 };

// A row goes by CompatParameter, with kAbsent where a trial has none.
using CompatRow = std::vector<double>;

struct CompatParameter {
  std::string name;
  Domain domain;            // never Levels, and LogUniform only without freeze
  std::size_t source = 0;   // in the space
  bool is_switch = false;   // 1: frozen
  bool has_switch = false;  // the parameter before this one
  bool is_single = false;   // one value, not drawn
};

// A space as someone would write it for Optuna. Levels are a categorical or an
// integer parameter. A rate that can be frozen is a choice `NAME.frozen` and,
// unless that is 1, a rate, since Optuna has no domain with an atom.
class CompatSpace {
 public:
  CompatSpace(Space space, bool levels_are_integers);

  const Space& space() const { return space_; }
  const std::vector<CompatParameter>& parameters() const { return parameters_; }
  // Parameters in the order in which Optuna draws them together.
  const std::vector<std::size_t>& by_name() const { return by_name_; }

  // REQUIRES: space().Check(point) is OK.
  CompatRow RowOf(const Point& point) const;

  // Says whether a trial with these values so far asks for parameter `i`.
  bool IsAsked(std::size_t i, const Point& point, const CompatRow& row) const;
  void Write(std::size_t i, double value, Point& point) const;

 private:
  Space space_;
  std::vector<CompatParameter> parameters_;
  std::vector<std::size_t> by_name_;
};

// Draws a point as Optuna's RandomSampler does.
double DrawCompatRandom(const Domain& domain, OptunaVersion version,
                        NumpyStream& stream);

// Optuna's multivariate TPE draws together one block of those that every ended
// trial has or, with `group`, the coarsest partition of which no trial has a
// part only, so that branches of a conditional space have blocks of their own.

using CompatBlock = std::vector<std::size_t>;  // parameters, by name

// `trials` are the ended ones, by number. Parameters with one value are left
// out; no block is empty.
std::vector<CompatBlock> CommonBlock(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials);
std::vector<CompatBlock> GroupedBlocks(
    const CompatSpace& space, const std::vector<const CompatRow*>& trials);

// Optuna 4 weighs good trials by the volume each adds (Ozaki et al., 2022,
// §4.3); Optuna 5 weighs them alike.
//
// `trials` are indices in History::trials(). The one that adds most has 1;
// those that add nothing or break a constraint have nearly 0.
std::vector<double> CompatVolumeWeights(
    const History& history, const std::vector<std::uint32_t>& trials,
    const std::vector<Objective>& objectives);

// Rows are by rising number, with running trials above. They are valid until
// the next CatchUp.
struct CompatView {
  std::vector<const CompatRow*> ended;
  std::vector<const CompatRow*> below;
  std::vector<const CompatRow*> above;
  // They are those of `below`, with several objectives; else they are empty.
  std::vector<double> below_weights;
};

// The trials of a study, as Optuna sees them: without those that failed or
// could not be trained. It keeps references.
class CompatTrials {
 public:
  CompatTrials(const CompatSpace& space,
               const std::vector<Objective>& objectives)
      : space_(space), objectives_(objectives) {}

  void CatchUp(const History& history);

  // Takes running trials only if asked for, and never `own` while it runs.
  CompatView Look(const History& history, std::int64_t own, bool with_running,
                  OptunaVersion version) const;

 private:
  struct Known {
    SplitKey key;
    CompatRow row;
  };

  std::vector<const CompatRow*> RowsOf(
      const std::vector<std::uint32_t>& trials) const;
  std::vector<const CompatRow*> EndedOf(const History& history) const;

  const CompatSpace& space_;
  const std::vector<Objective>& objectives_;
  std::int64_t revision_ = 0;
  std::vector<std::optional<Known>> known_;  // as History::trials()
};

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

// A sampler that proposes what Optuna's TPESampler would have. It has one owner
// thread at a time.
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
