// SPDX-License-Identifier: Apache-2.0
//
// File: split_search.h
//
// The best of all cuts of a node's rows is found by least squares (Breiman et
// al., 1984): the squared error falls by
//
//   (n_left n_right / n) (mean_left - mean_right)^2
//
// Codes of an unordered axis are cut in the order of their means, where the
// best cut is. Targets are whole numbers, so sums are exact and scores do not
// depend on axis or order.
//
//   SplitSearch search(data, rows);
//   TreeSplit split = search.FindBest(node, rng);   // axis 3, code <= 0
#ifndef FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_
#define FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

struct DrawnRow {
  std::uint32_t row = 0;
  std::uint32_t weight = 0;  // how often; above 0
  std::int64_t sum = 0;      // weight times whole-numbered target
};

// Is a power of two for a target of 1, so that no score of such rows overflows.
double ScaleOfTargets(const std::vector<double>& targets,
                      std::uint64_t all_weight);

struct TreeSplit {
  int axis = -1;  // -1: all rows are at one point
  double threshold = 0.0;
  std::uint16_t last_bin = 0;   // of an ordered axis, on the left
  std::vector<bool> goes_left;  // of an unordered axis, by code
};

// Reuses its memory; a tree grown has one.
class SplitSearch {
 public:
  // Keeps a reference. REQUIRES: no node weighs more than `all_weight`.
  SplitSearch(const Dataset& data, std::uint64_t all_weight);

  // Of equally good axes a random one wins.
  TreeSplit FindBest(std::span<const DrawnRow> rows, Rng& rng);

 private:
  struct Bin {
    std::int64_t sum = 0;
    std::int64_t weight = 0;
  };
  struct Cut {
    double score = -1.0;
    std::size_t last = 0;  // of used_, on the left
  };

  // Any axis on which they differ is as good.
  int AxisOfTwo(std::span<const DrawnRow> rows, Rng& rng);
  // Fills used_ with bins that hold rows, by rising index or, without an order,
  // rising mean; the table with what they hold.
  void Collect(std::size_t axis, std::span<const DrawnRow> rows);
  void Empty();
  Cut BestCut() const;
  TreeSplit MakeSplit(std::size_t axis, std::size_t last) const;

  const Dataset& data_;
  std::vector<double> inverse_;  // by weight
  std::vector<std::size_t> order_;
  std::vector<Bin> table_;              // by bin; empty between axes
  std::vector<std::uint64_t> is_used_;  // bits by bin; likewise
  std::vector<std::uint16_t> indices_;
  std::span<std::uint16_t> used_;  // the first of indices_
  Bin all_;                        // of the node
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_
