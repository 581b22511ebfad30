// SPDX-License-Identifier: Apache-2.0
//
// File: history.h
//
// What a sampler, a pruner and an importance evaluator see of a study: its
// trials as numbers. Trials are kept by number; every change is also an entry
// of a change log, so that an algorithm with state of its own can catch up with
// `changes()` from where it last looked instead of reading everything again.
//
// Not thread-safe: one owner. Adding is O(1) amortised.
#ifndef FROSTLINE_STUDY_HISTORY_H_
#define FROSTLINE_STUDY_HISTORY_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "study/point.h"
#include "study/trial.h"

namespace frostline {

struct IntermediateValue {
  std::int64_t step = 0;
  double value =
      0.0;  // of the first objective's metric; may be NaN or infinite
};

struct Observation {
  std::int64_t number = 0;
  TrialState state = TrialState::kQueued;
  Point point;
  // As reported, one per objective; empty unless SUCCEEDED (or PRUNED with a
  // result). Always finite.
  std::vector<double> values;
  std::vector<IntermediateValue> intermediate;  // by rising step
  // Violations; a value above 0 is broken. Empty: none asked for.
  std::vector<double> constraints;
  double cost_s = 0.0;              // training seconds, 0 when unknown
  double trained_parameters = 0.0;  // weights that were not frozen, or 0
  std::uint64_t seed = 0;           // what it trains with; 0: not known
  // Its point was run so often before; counted where the study pairs seeds or
  // repeats its leaders.
  std::int32_t repeat = 0;
};

class History {
 public:
  // Adds a trial or replaces what is known of it.
  void Put(Observation observation);

  // In the order in which numbers were first seen; finished and not.
  const std::vector<Observation>& trials() const { return trials_; }
  std::size_t size() const { return trials_.size(); }
  // nullptr when there is no such trial.
  const Observation* Find(std::int64_t number) const;

  // Indices into trials(), one for each Put since the beginning. Its length is
  // the revision: what an algorithm saw is told by one number.
  const std::vector<std::uint32_t>& changes() const { return changes_; }
  std::int64_t revision() const {
    return static_cast<std::int64_t>(changes_.size());
  }

 private:
  std::vector<Observation> trials_;
  std::vector<std::uint32_t> changes_;
  std::vector<std::int32_t> index_of_number_;  // -1: not seen
};

}  // namespace frostline

#endif  // FROSTLINE_STUDY_HISTORY_H_
