// SPDX-License-Identifier: Apache-2.0
//
// File: finite.h
//
// Draws each point evenly from those that are left, without listing them.
// Every trial in the history counts, in any state, so restarts, retries,
// parallel and enqueued trials neither skip nor repeat a point.
//
// A continuous parameter is SAMPLER_INVALID, one of more than kMaxBranches
// values is SPACE_TOO_LARGE.
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

// A finite space as a tree that is never built, with a layer for each
// parameter, a branch for each value, a leaf for each point. A parameter hangs
// on at most one other, so leaves are counted by multiplying.

// The index of the value of each parameter, kNoBranch if it is inactive.
using Path = std::vector<std::int32_t>;
inline constexpr std::int32_t kNoBranch = -1;

inline constexpr double kCountlessPoints = 1e200;

// Any thread may use it.
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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_FINITE_H_
