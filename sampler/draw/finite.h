// SPDX-License-Identifier: Apache-2.0
//
// File: finite.h
//
// Samplers of finite spaces: each point comes once.
#ifndef FROSTLINE_SAMPLER_DRAW_FINITE_H_
#define FROSTLINE_SAMPLER_DRAW_FINITE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/draw/random.h"
#include "sampler/sampler.h"
#include "study/space.h"

namespace frostline::sampler {

// Draws each point evenly from those that are left, without listing them.
// Every trial in the history counts, in any state, so restarts, retries,
// parallel and enqueued trials neither skip nor repeat a point.
//
// A continuous parameter is SAMPLER_INVALID, one of more than kMaxBranches
// values is SPACE_TOO_LARGE.

// A finite space as a tree that is never built, with a layer for each
// parameter, a branch for each value, a leaf for each point. A parameter hangs
// on at most one other, so leaves are counted by multiplying.

// The index of the value of each parameter, kNoBranch if it is inactive.
using Path = std::vector<std::int32_t>;
inline constexpr std::int32_t kNoBranch = -1;

inline constexpr double kCountlessPoints = 1e200;

// A tree of the points of a finite space, a parameter for each step down: it
// counts the points below each value. Any thread may use it.
class FiniteTree {
 public:
  // REQUIRES: every domain has at most 2^31 - 1 values.
  explicit FiniteTree(const Space& space);

  const Space& space() const { return space_; }
  double CountPoints() const {
    return CountPending(-1, Point(ranges_.size(), kAbsent));
  }
  std::int32_t CountBranches(std::size_t parameter) const {
    return branches_[parameter];
  }
  double ValueOf(std::size_t parameter, std::int32_t branch) const;

  // Counts the ways to fill what hangs on `parameter` when it takes this
  // branch.
  double CountOwn(std::size_t parameter, std::int32_t branch) const;
  // Counts so what neither hangs on `last` nor comes before it: CountOwn x
  // CountPending leaves are below a branch. REQUIRES: from `last` on, the point
  // is absent.
  double CountPending(int last, const Point& point) const;

  // The path is empty when there is no such leaf. Stepped values may carry
  // rounding.
  Path PathOf(const Point& point) const;

 private:
  double CountWays(std::size_t parameter, std::int32_t branch) const;

  Space space_;
  std::vector<NumericRange> ranges_;
  std::vector<std::int32_t> branches_;
  std::vector<std::vector<int>> children_;
  std::vector<std::vector<double>> own_;  // none where nothing hangs on it
  std::vector<double> counts_;            // leaves of each parameter by itself
};

// The leaves that are taken. They are sorted, so those below a branch are
// counted by bisection. A leaf counts once.
//
// It is not thread-safe. Ranges are valid until the next Put.
class TakenPaths {
 public:
  // The leaves of a range share their first branches.
  using Range = std::span<const Path* const>;

  TakenPaths() = default;
  TakenPaths(TakenPaths&&) = default;
  TakenPaths& operator=(TakenPaths&&) = default;

  // Replaces the leaf of trial i; an empty path is none.
  void Put(std::size_t i, const Path& path);
  Path LeafOf(std::size_t i) const;

  Range All() const { return sorted_; }
  // Returns the part that takes `branch` at `layer`, of a range that shares all
  // branches before.
  Range Below(Range range, std::size_t layer, std::int32_t branch) const;
  // Does the same where `range` begins with that part, which is removed from
  // it.
  Range SplitFront(Range& range, std::size_t layer, std::int32_t branch) const;

 private:
  using Taken = std::map<Path, int>;  // and by how many trials
  using Leaf = Taken::value_type;

  void Release(Leaf* leaf);

  Taken taken_;
  std::vector<const Path*> sorted_;
  std::vector<Leaf*> of_trial_;
};

inline constexpr std::int64_t kMaxBranches = 1'000'000;

absl::StatusOr<std::unique_ptr<Sampler>> MakeBruteForceSampler(
    const SamplerInput& input);

// Proposes each point of a grid once, shuffled or in the order of GridPoints.
// Every trial counts, as in finite.h.
//
// A continuous parameter is SAMPLER_INVALID, more than kMaxGridPoints points
// are SPACE_TOO_LARGE.

// The points of a grid, one after the other. They are not kept: the last
// parameter changes fastest, inactive ones are absent.
class GridPoints {
 public:
  // REQUIRES: every domain is finite.
  explicit GridPoints(const Space& space);

  Point First() const;
  // After the last point it answers false and goes to the first.
  bool Advance(Point& point) const;

  // Removes the rounding that stepped values may carry. REQUIRES:
  // space.Check(point) is OK.
  Point Snap(Point point) const;

  // Counts no further than limit + 1.
  std::int64_t Count(std::int64_t limit) const;

 private:
  void Reset(int begin, Point& point) const;

  Space space_;
  std::vector<NumericRange> ranges_;
};

inline constexpr std::int64_t kMaxGridPoints = 1'000'000;

absl::StatusOr<std::unique_ptr<Sampler>> MakeGridSampler(
    const SamplerInput& input);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_FINITE_H_
