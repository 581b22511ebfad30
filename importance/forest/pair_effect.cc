// SPDX-License-Identifier: Apache-2.0
//
// The pairs of marginal.h.
#include <algorithm>

#include "importance/forest/marginal.h"

namespace frostline::importance {

// Memory that is used again from pair to pair.
struct TreeMarginals::Scratch {
  struct Change {
    double by = 0.0;
    const LeafSide* side = nullptr;  // along the second axis
  };
  std::vector<std::size_t> end_of_row;  // of changes
  std::vector<Change> changes;          // by row
  std::vector<double> differences;      // of the row that is swept
  std::vector<double> columns;          // sums over rows
};

std::vector<double> TreeMarginals::PairVariances(
    const std::vector<std::size_t>& axes) const {
  const std::size_t none = axes.size();
  std::vector<std::size_t> position(cells_.axes.size(), none);
  for (std::size_t i = 0; i < none; ++i) position[axes[i]] = i;
  std::vector<std::size_t> before(none + 1, 0);  // pairs with a lower first
  for (std::size_t i = 0; i < none; ++i)
    before[i + 1] = before[i] + none - i - 1;
  // Only a leaf with splits on both axes holds any of a pair's interaction.
  const auto visit = [&](const auto& take) {
    for (const Leaf& leaf : leaves_) {
      for (std::size_t a = leaf.first_side; a < leaf.end_side; ++a) {
        const std::size_t i = position[sides_[a].axis];
        if (i == none) continue;
        for (std::size_t b = a + 1; b < leaf.end_side; ++b) {
          const std::size_t j = position[sides_[b].axis];
          if (j != none) take(leaf, a, b, before[i] + j - i - 1);
        }
      }
    }
  };
  // Counted and then put in place, so that it is one piece of memory.
  std::vector<std::size_t> end(before[none] + 1, 0);
  visit([&end](const Leaf&, std::size_t, std::size_t, std::size_t pair) {
    ++end[pair + 1];
  });
  for (std::size_t p = 1; p < end.size(); ++p) end[p] += end[p - 1];
  std::vector<PairLeaf> leaves(end.back());
  visit([&](const Leaf& leaf, std::size_t a, std::size_t b, std::size_t pair) {
    leaves[end[pair]++] = {
        leaf.value * (leaf.mass / sides_[a].mass / sides_[b].mass),
        static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)};
  });
  Scratch scratch;
  std::vector<double> variances(before[none], 0.0);
  std::size_t begin = 0;
  for (std::size_t p = 0; p < variances.size(); ++p) {
    if (end[p] > begin) {
      variances[p] =
          PairVariance(leaves.data() + begin, leaves.data() + end[p], scratch);
    }
    begin = end[p];
  }
  return variances;
}

double TreeMarginals::PairVariance(const PairLeaf* begin, const PairLeaf* end,
                                   Scratch& scratch) const {
  const AxisCells& rows = cells_.axes[sides_[begin->first].axis];
  const AxisCells& columns = cells_.axes[sides_[begin->second].axis];
  const auto visit = [&](const auto& take) {
    for (const PairLeaf* leaf = begin; leaf != end; ++leaf) {
      const LeafSide& side = sides_[leaf->first];
      for (std::size_t r = side.first_run; r < side.end_run; ++r) {
        take(runs_[r].first, leaf->rest, *leaf);
        take(runs_[r].second, -leaf->rest, *leaf);
      }
    }
  };
  std::vector<std::size_t>& at = scratch.end_of_row;
  at.assign(rows.size() + 2, 0);
  visit([&at](std::uint32_t row, double, const PairLeaf&) { ++at[row + 1]; });
  for (std::size_t r = 1; r < at.size(); ++r) at[r] += at[r - 1];
  scratch.changes.resize(at.back());
  visit([&](std::uint32_t row, double by, const PairLeaf& leaf) {
    scratch.changes[at[row]++] = {by, &sides_[leaf.second]};
  });
  scratch.differences.assign(columns.size() + 1, 0.0);
  scratch.columns.assign(columns.size(), 0.0);
  // The sum of squares less what either axis explains alone.
  double variance = 0.0, mean = 0.0;
  std::size_t next = 0;
  for (std::size_t row = 0; row < rows.size();) {
    for (; next < at[row]; ++next) {
      const Scratch::Change& change = scratch.changes[next];
      for (std::size_t r = change.side->first_run; r < change.side->end_run;
           ++r) {
        scratch.differences[runs_[r].first] += change.by;
        scratch.differences[runs_[r].second] -= change.by;
      }
    }
    std::size_t last = row + 1;  // rows without a change are as this one
    while (last < rows.size() && at[last] == at[row]) ++last;
    const double mass = rows.MassOf(row, last);
    double value = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      value += scratch.differences[c];
      const double part = columns.MassOf(c, c + 1) * value;
      sum += part;
      squares += part * value;
      scratch.columns[c] += mass * value;
    }
    variance += mass * (squares - sum * sum);
    mean += mass * sum;
    row = last;
  }
  for (std::size_t c = 0; c < columns.size(); ++c) {
    variance -=
        columns.MassOf(c, c + 1) * scratch.columns[c] * scratch.columns[c];
  }
  return std::max(variance + mean * mean, 0.0);
}

}  // namespace frostline::importance
