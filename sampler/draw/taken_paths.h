// SPDX-License-Identifier: Apache-2.0
//
// File: taken_paths.h
//
// Leaves of a tree (finite_tree.h) are kept sorted, so that those below a
// branch are counted by bisection. A leaf counts once.
#ifndef FROSTLINE_SAMPLER_DRAW_TAKEN_PATHS_H_
#define FROSTLINE_SAMPLER_DRAW_TAKEN_PATHS_H_

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "sampler/draw/finite_tree.h"

namespace frostline::sampler {

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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_DRAW_TAKEN_PATHS_H_
