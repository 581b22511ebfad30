// SPDX-License-Identifier: Apache-2.0
//
// File: split.h
//
// Splits trials into good and bad: with one objective the best are good, with
// several whole ranks of those that nothing dominates.
#ifndef FROSTLINE_SAMPLER_SPLIT_H_
#define FROSTLINE_SAMPLER_SPLIT_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::sampler {

// The edge of the dominated region in two coordinates; it falls to the right.
class ParetoStair {
 public:
  // REQUIRES: there are two coordinates at least; those beyond do not count.
  explicit ParetoStair(const std::vector<double>& reference)
      : right_(reference[0]), top_(reference[1]) {}

  double area() const { return area_; }

  // The point may be dominated already. It takes O(log n) amortised.
  void Add(double x, double y);

 private:
  double right_;
  double top_;
  double area_ = 0.0;
  std::map<double, double> steps_;  // y by x; y falls
};

// The volume is exact, by slices along the last objective, each of one
// objective fewer; all are minimised. It takes O(n log n) with two or three
// objectives, a factor n more for each one beyond.
//
//   one point (1, 1), reference (2, 3): 1 x 2 = 2

using LossVectors = std::vector<std::vector<double>>;

// It is infinite when the reference or a point below it is. REQUIRES: there are
// two objectives at least, and no NaN.
double Hypervolume(LossVectors points, const std::vector<double>& reference);

double BoxVolume(const std::vector<double>& point,
                 const std::vector<double>& reference);

// Returns what `point` adds: its box less what `others`, moved into that box,
// dominate (While et al., 2012, eq. 6 and 7).
double AddedVolume(const std::vector<double>& point, LossVectors others,
                   const std::vector<double>& reference);

// The best points under several objectives, all minimised, are whole ranks of
// non-domination, then points of the next rank one by one, each adding most to
//
//   V(S) = volume of what some point of S dominates, up to a reference
//
//   (1, 3), (2, 2), (3, 1): rank 0;  (3, 3): rank 1, for (2, 2) dominates it

// Ranks are from 0, for points nothing dominates. They cost O(n log n)
// comparisons of points with two objectives, else of points with whole fronts
// (Zhang et al., 2015). REQUIRES: no loss is NaN.
std::vector<int> NonDominationRanks(const LossVectors& losses);

// Points whose violation is above 0 rank behind all others, the least first
// (Deb et al., NSGA-II, 2002, §VI).
std::vector<int> NonDominationRanks(const LossVectors& losses,
                                    const std::vector<double>& violations);

// Indices are in the order of choice; the volume is at least 1 - 1/e of the
// best (Nemhauser et al., 1978). Ties go to the lexicographically smallest,
// twins come last. REQUIRES: count <= points.size().
std::vector<std::size_t> SelectByHypervolume(
    const LossVectors& points, const std::vector<double>& reference,
    std::size_t count);

// Returns indices. The reference is a little beyond the worst losses of the
// rank that does not fit (Ozaki et al., 2020). REQUIRES: count <=
// losses.size().
std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count);

// Trials fill the side "below" in this order until it is full; the rest, and
// all that still run, are "above":
//
//   1. finished and feasible, best first; with several objectives by rank of
//      non-domination, the last rank by hypervolume
//   2. pruned: the further they came the better, then by their last value
//   3. infeasible, by how far they break the constraints; points that could
//      not be trained come last
//
// Running ones count as bad to keep parallel proposals apart (the constant liar
// of Ginsbourger et al., 2010).
//
//   of 20 finished trials the best 2 are below (CountBelow), 18 above

enum class SplitGroup { kFinished, kPruned, kInfeasible, kRunning };

// Lower keys are better.
struct SplitKey {
  SplitGroup group = SplitGroup::kRunning;
  double first = 0.0;          // loss, minus the last step, or violation
  double second = 0.0;         // pruned: the last value as a loss
  std::vector<double> losses;  // finished, with several objectives
};

// Returns the key of a trial; nothing if it is failed, cancelled or queued.
std::optional<SplitKey> SplitKeyOf(const Observation& trial,
                                   const std::vector<Objective>& objectives);

// A trial, and its place in the order of good trials.
struct KeyedTrial {
  std::int64_t number = 0;
  std::uint32_t index = 0;  // in History::trials()
  const SplitKey* key = nullptr;
};

// The good and the bad trials, as indices in History::trials(), by rising trial
// number.
struct Split {
  std::vector<std::uint32_t> below;
  std::vector<std::uint32_t> above;
};

// Returns how many of n trials are good: a tenth, with one objective at most
// 25.
std::size_t CountBelow(std::size_t n, std::size_t objectives);

Split SplitTrials(std::vector<KeyedTrial> trials, std::size_t below);

// The split keys of all trials. It follows the change log, so a proposal reads
// only what is new.
//
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

#endif  // FROSTLINE_SAMPLER_SPLIT_H_
