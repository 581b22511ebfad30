// SPDX-License-Identifier: Apache-2.0
//
// File: split_search.h
//
// The best split of some rows of a data set in two, by least squares.
#ifndef FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_
#define FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"
#include "importance/dataset.h"

namespace frostline {

struct TreeSplit {
  int axis = -1;  // -1: all rows are at one point
  double threshold = 0.0;
  std::vector<bool> goes_left;
};

// Reuses its memory from call to call; one per tree being grown.
class SplitSearch {
 public:
  // Keeps references. Row r counts weights[r] times.
  SplitSearch(const Dataset& data, const std::vector<double>& targets,
              const std::vector<std::uint32_t>& weights);

  // Axes are looked at in an order drawn from `rng`; the first best one wins.
  TreeSplit FindBest(std::span<const std::uint32_t> rows, Rng& rng);

 private:
  struct Bin {
    std::uint16_t index = 0;
    double weight = 0.0;
    double sum = 0.0;  // of weight * target
  };

  // Fills bins_ with those that hold rows, by rising index.
  void Collect(std::size_t axis, std::span<const std::uint32_t> rows);
  // The best cut of bins_ as they stand, after position i; -1: none is
  // better than best_score_.
  int Scan();
  TreeSplit MakeSplit(std::size_t axis, std::size_t last) const;

  const Dataset& data_;
  const std::vector<double>& targets_;
  const std::vector<std::uint32_t>& weights_;
  std::vector<std::size_t> order_;
  std::vector<Bin> table_;  // by bin; all empty between calls
  std::vector<Bin> bins_;
  double best_score_ = 0.0;
};

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_FOREST_SPLIT_SEARCH_H_
