// SPDX-License-Identifier: Apache-2.0
//
// File: compat_trials.h
//
// Optuna ignores trials that failed or could not be trained.
#ifndef FROSTLINE_SAMPLER_OPTUNA_COMPAT_TRIALS_H_
#define FROSTLINE_SAMPLER_OPTUNA_COMPAT_TRIALS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "sampler/optuna/compat_space.h"
#include "sampler/split.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

// Rows are by rising number, with running trials above. They are valid until
// the next CatchUp.
struct CompatView {
  std::vector<const CompatRow*> ended;
  std::vector<const CompatRow*> below;
  std::vector<const CompatRow*> above;
  // They are those of `below`, with several objectives; else they are empty.
  std::vector<double> below_weights;
};

// It keeps references.
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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_OPTUNA_COMPAT_TRIALS_H_
