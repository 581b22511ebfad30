// SPDX-License-Identifier: Apache-2.0
//
// File: levels.h
//
// Parameters as axes of ordered levels, the trials on them, and points that
// are new on every axis.
#ifndef FROSTLINE_SAMPLER_GP_LEVELS_H_
#define FROSTLINE_SAMPLER_GP_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/rng.h"
#include "sampler/draw/random.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"
#include "surrogate/rows.h"

namespace frostline::sampler {

// A parameter has a cell for each value, or kLineCells of equal width for a
// continuous or long range. Ordered cells have a place on [0, 6], so that one
// length scale means the same on every axis.
//
// Frozen is a kind of its own, the last cell, tied to the low end of the line
// (its anchor) as strongly as the data say. What a condition switches off is in
// that cell too: a module without a rate is a frozen one. The anchor of what is
// no rate is the middle.

inline constexpr int kLineCells = 33;
inline constexpr double kAxisLength = 6.0;

using Cells = std::vector<std::uint8_t>;

struct LevelAxis {
  bool ordered = true;
  int line_cells = 0;          // on the line, or unordered choices
  bool has_kind = false;       // one more cell: frozen or absent
  bool exact = true;           // every cell is one value
  bool frozen_value = false;   // the domain's own frozen, 0
  std::vector<double> places;  // of all cells; of the kind its anchor
  std::optional<NumericRange> range;
  std::vector<double> values;  // on the line, where exact

  int cells() const { return line_cells + (has_kind ? 1 : 0); }
  // A proposal may choose from these first cells.
  int choices() const { return line_cells + (frozen_value ? 1 : 0); }
  // REQUIRES: the value is in the domain, or absent and has_kind.
  int CellOf(double value) const;
  // Returns the middle of the cell.
  double ValueOf(int cell) const;
  double DrawValueOf(int cell, Rng& rng) const;
};

// Returns the axes of a space; nothing if a categorical parameter has more than
// kLineCells choices: then there is nothing to model.
std::optional<std::vector<LevelAxis>> MakeLevelAxes(const Space& space);

Cells CellsOf(const std::vector<LevelAxis>& axes, const Point& point);

// Each cell has its share of the space, counted in draws, conditions included.
std::vector<surrogate::Axis> StudyAxes(const Space& space,
                                       const std::vector<LevelAxis>& axes);

// Returns axes for a surrogate. Effects along an order are smooth. With earlier
// studies the study is one more axis, this one its cell 0: what studies have in
// common is a main effect, what they have not is an interaction with the study.
std::vector<surrogate::Axis> SearchAxes(const Space& space,
                                        const std::vector<LevelAxis>& axes,
                                        std::size_t earlier);

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
  // Only for a trial with a value: above 0 is broken, NaN was not measured.
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

// Returns nothing for trials that are cancelled, of another space, or without a
// finite loss though they succeeded. Exact values are brought onto their grid,
// so that equal means equal.
std::optional<LedgerTrial> LedgerTrialOf(const Observation& trial,
                                         const Space& space,
                                         const std::vector<LevelAxis>& axes,
                                         const Objective& objective);

// The trials of a study as cells. It follows the change log and keeps
// references. One whose value is off the scale for the better (FindOffScale of
// study/objective.h) counts as one that still runs: a mistake is nothing to
// beat.
class TrialLedger {
 public:
  TrialLedger(const Space& space, const std::vector<LevelAxis>& axes,
              const Objective& objective)
      : space_(space), axes_(axes), objective_(objective) {}

  void CatchUp(const History& history);

  // Lists all but `own`, by rising number, valid until the next CatchUp.
  std::vector<const LedgerTrial*> List(std::int64_t own) const;

 private:
  void DoubtOffScale();

  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  const Objective& objective_;
  std::int64_t revision_ = 0;
  std::vector<std::optional<LedgerTrial>> trials_;  // as History::trials()
  std::vector<std::size_t> doubted_;  // places of those off the scale
};

// Returns a point with, on every axis, a cell that the fewest trials have had:
// a Latin hypercube (McKay et al., 1979) that survives any history.
Point BalancedDraw(const Space& space, const std::vector<LevelAxis>& axes,
                   const std::vector<const LedgerTrial*>& trials, Rng& rng);

// Returns that one of some balanced draws that shares least with the trials, so
// that pairs of levels come equally often, too.
Point SpreadDraw(const Space& space, const std::vector<LevelAxis>& axes,
                 const std::vector<const LedgerTrial*>& trials, Rng& rng);

// Returns `point`, or one that was not tried yet, as long as the space has one.
Point FreshPoint(const Space& space, Point point, const PointSet& seen,
                 Rng& rng);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVELS_H_
