// SPDX-License-Identifier: Apache-2.0
//
// File: trial_table.h
//
// The table follows the change log, so that a proposal reads only what is new.
#ifndef FROSTLINE_SAMPLER_SPLIT_TRIAL_TABLE_H_
#define FROSTLINE_SAMPLER_SPLIT_TRIAL_TABLE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "sampler/split.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// It keeps references.
class TrialTable {
 public:
  TrialTable(const Space& space, const std::vector<Objective>& objectives)
      : space_(space), objectives_(objectives) {}

  void CatchUp(const History& history);

  // Lists all but `own`, valid until the next CatchUp.
  std::vector<KeyedTrial> List(const History& history, std::int64_t own,
                               bool with_running) const;

 private:
  const Space& space_;
  const std::vector<Objective>& objectives_;
  std::int64_t revision_ = 0;
  std::vector<std::optional<SplitKey>> keys_;  // as History::trials()
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SPLIT_TRIAL_TABLE_H_
