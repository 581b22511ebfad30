// SPDX-License-Identifier: Apache-2.0
//
// File: split_search.h
//
// The best split of a node's rows in two, by least squares (Breiman et al.,
// 1984): of all cuts of all axes the one by which the squared error falls most,
//
//   (n_left n_right / n) (mean_left - mean_right)^2
//
// An unordered axis is cut between its codes in the order of their means, among
// which the best cut is. Targets are whole numbers here, so that sums are
// exact: a split has the same score on whatever axis it is found, and in
// whatever order its rows are added up.
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

// A row of the data set that a tree has drawn.
struct DrawnRow {
  std::uint32_t row = 0;
  std::uint32_t weight = 0;  // how often; above 0
  std::int64_t sum = 0;      // weight times the whole-numbered target
};

// What a whole-numbered target of 1 is multiplied by: a power of two, so large
// that no score of rows of this weight overflows.
double ScaleOfTargets(const std::vector<double>& targets,
                      std::uint64_t all_weight);

struct TreeSplit {
  int axis = -1;  // -1: all rows are at one point
  double threshold = 0.0;
  std::uint16_t last_bin = 0;   // of an ordered axis: the last on the left
  std::vector<bool> goes_left;  // of an unordered one, by code
};

// Reuses its memory from call to call; one per tree being grown.
class SplitSearch {
 public:
  // Keeps a reference. No node weighs more than `all_weight`.
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

  // Any axis on which two rows differ is as good as any other.
  int AxisOfTwo(std::span<const DrawnRow> rows, Rng& rng);
  // Fills used_ with the bins of one axis that hold rows, by rising index or,
  // where there is no order, by rising mean; the table with what they hold.
  void Collect(std::size_t axis, std::span<const DrawnRow> rows);
  void Empty();
  Cut BestCut() const;
  TreeSplit MakeSplit(std::size_t axis, std::size_t last) const;

  const Dataset& data_;
  std::vector<double> inverse_;  // of every weight
  std::vector<std::size_t> order_;
  std::vector<Bin> table_;              // by bin; all empty between axes
  std::vector<std::uint64_t> is_used_;  // bits by bin; likewise
  std::vector<std::uint16_t> indices_;
  std::span<std::uint16_t> used_;  // the first of them
  Bin all_;                        // of the node
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_
