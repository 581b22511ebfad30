// SPDX-License-Identifier: Apache-2.0
//
// File: forest.h
//
// A random forest (Breiman, "Random Forests", 2001) grows every tree until its
// leaves are pure, on as many rows as there are, drawn with replacement, with
// all axes at every split. The 37 % of rows not drawn say how well it predicts.
//
//   const Forest forest = FitForest(data, data.targets, weights, 64, seed, 0);
//   OutOfBagR2(data, forest);   // 0.8: the trees predict most of the variance
#ifndef FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
#define FROSTLINE_IMPORTANCE_FOREST_FOREST_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/measure/dataset.h"

namespace frostline::importance {

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

struct DrawnRow {
  std::uint32_t row = 0;
  std::uint32_t weight = 0;  // how often; above 0
  std::int64_t sum = 0;      // weight times whole-numbered target
};

// Returns a power of two for a target of 1, so that no score of such rows
// overflows.
double ScaleOfTargets(const std::vector<double>& targets,
                      std::uint64_t all_weight);

struct TreeSplit {
  int axis = -1;  // -1: all rows are at one point
  double threshold = 0.0;
  std::uint16_t last_bin = 0;   // of an ordered axis, on the left
  std::vector<bool> goes_left;  // of an unordered axis, by code
};

// The search for the best split of a node. It reuses its memory; each tree that
// is grown has one.
class SplitSearch {
 public:
  // Keeps a reference. REQUIRES: no node weighs more than `all_weight`.
  SplitSearch(const Dataset& data, std::uint64_t all_weight);

  // Returns the best split. Among equally good axes a random one wins.
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

// A regression tree over codes (Breiman et al., 1984) sends rows left or right
// by one axis; a leaf has their mean.
//
//   axis 0, code <= 2 ? 0.1 : (axis 3, code in {0, 4} ? 0.5 : 0.9)

struct TreeNode {
  int axis = -1;  // -1: a leaf
  // Codes up to the threshold go left; of an unordered axis those in goes_left.
  double threshold = 0.0;
  std::vector<bool> goes_left;
  int left = -1;
  int right = -1;
  double value = 0.0;  // of a leaf
};

// Children come after their parent, the root is first. It is never empty.
struct Tree {
  std::vector<TreeNode> nodes;

  double Predict(const Dataset& data, std::size_t row) const;
};

// Says by node whether it, or one below, splits on one of these.
std::vector<bool> SplitsOn(const Tree& tree,
                           const std::vector<std::size_t>& axes);

// Splits by least squares until a leaf's rows are alike; of equal splits a
// random one wins. Row r counts weights[r] times. Choices are split by mean
// target, the best of all subsets (Fisher, 1958). After a stop nothing is split
// any more. REQUIRES: a weight is above 0.
Tree FitTree(const Dataset& data, const std::vector<double>& targets,
             const std::vector<std::uint32_t>& weights, Rng& rng,
             const std::stop_token& stop = {});

using RowWeights = std::vector<std::uint32_t>;  // how often each counts

struct Forest {
  std::vector<Tree> trees;
  std::vector<RowWeights> drawn;  // by tree
};

// Draws with replacement, as many as `among` counts.
RowWeights DrawRows(const RowWeights& among, Rng& rng);

// Tree t draws from Rng(seed, stream + t) alone (evaluate_options.h).
Forest FitForest(const Dataset& data, const std::vector<double>& targets,
                 const RowWeights& among, int trees, std::uint64_t seed,
                 std::uint64_t stream, int threads = 1,
                 const std::stop_token& stop = {});

// Takes mean predictions by trees that have not seen a row; NaN without.
double OutOfBagR2(const Dataset& data, const Forest& forest, int threads = 1);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_FOREST_FOREST_H_
