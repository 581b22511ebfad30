// SPDX-License-Identifier: Apache-2.0
//
// File: levels.h
#ifndef FROSTLINE_SAMPLER_GP_LEVELS_H_
#define FROSTLINE_SAMPLER_GP_LEVELS_H_

#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "sampler/gp/level_axis.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

enum class TrialPart {
  kValued,  // ended with a loss, or pruned
  kFailed,  // or infeasible: there is no loss
  kRunning  // running, or waiting to
};

struct LedgerTrial {
  std::int64_t number = 0;
  TrialPart part = TrialPart::kRunning;
  Cells cells;
  Point point;
  double loss = 0.0;     // infinite: pruned before it reported
  bool pruned = false;   // the loss is of an early step
  bool feasible = true;  // it has not failed and broke no constraint
  // Of a trial that was valued: above 0 is broken, NaN was not measured.
  std::vector<double> constraints;
};

struct PointHash {
  std::size_t operator()(const Point& point) const { return HashPoint(point); }
};
struct PointEqual {
  bool operator()(const Point& a, const Point& b) const {
    return SamePoint(a, b);
  }
};
using PointSet = std::unordered_set<Point, PointHash, PointEqual>;

// Answers nothing for trials that are cancelled, of another space, or without a
// finite loss though they succeeded. Exact values are brought onto their grid,
// so that equal means equal.
std::optional<LedgerTrial> LedgerTrialOf(const Observation& trial,
                                         const Space& space,
                                         const std::vector<LevelAxis>& axes,
                                         const Objective& objective);

// It follows the change log and keeps references.
class TrialLedger {
 public:
  TrialLedger(const Space& space, const std::vector<LevelAxis>& axes,
              const Objective& objective)
      : space_(space), axes_(axes), objective_(objective) {}

  void CatchUp(const History& history);

  // Lists all but `own`, by rising number, valid until the next CatchUp.
  std::vector<const LedgerTrial*> List(std::int64_t own) const;

 private:
  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  const Objective& objective_;
  std::int64_t revision_ = 0;
  std::vector<std::optional<LedgerTrial>> trials_;  // as History::trials()
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVELS_H_
