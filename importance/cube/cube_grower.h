// SPDX-License-Identifier: Apache-2.0
//
// File: cube_grower.h
#ifndef FROSTLINE_IMPORTANCE_CUBE_CUBE_GROWER_H_
#define FROSTLINE_IMPORTANCE_CUBE_CUBE_GROWER_H_

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/cube/column_tree.h"
#include "importance/cube/cube_forest.h"

namespace frostline::importance {

class CubeGrower {
 public:
  // Keeps references. Row r counts weights[r] times; REQUIRES: not all are 0.
  // After a stop nothing is split any more.
  CubeGrower(const CubeData& data, const std::vector<double>& targets,
             const CubeWeights& weights, Rng& rng, const std::stop_token& stop);

  ColumnTree Grow();

 private:
  struct Bin {
    double weight = 0.0;
    double sum = 0.0;  // of weight * target
  };
  struct Split {
    std::size_t axis = 0;
    // Of a number the last goes left, of a choice this one goes right.
    std::uint32_t code = 0;
    int column = -1;  // -1: no split
    double threshold = 0.5;
    double score = 0.0;
  };

  void Collect(const CubeData::Axis& axis, std::span<const std::uint32_t> rows);
  void TryNumber(std::size_t axis);
  void TryChoices(std::size_t axis);
  void Offer(const Split& split);  // of equals any may win
  double ScoreOf(double left_weight, double left_sum) const;
  bool IsPure(std::span<const std::uint32_t> rows, ColumnNode& node);
  // Returns where the right child's rows begin; 0 makes a leaf.
  std::size_t SplitNode(std::size_t node, std::span<std::uint32_t> rows);

  const CubeData& data_;
  const std::vector<double>& targets_;
  const CubeWeights& weights_;
  Rng& rng_;
  const std::stop_token& stop_;
  std::vector<std::uint32_t> rows_;
  std::vector<Bin> table_;            // by code; empty between axes
  std::vector<std::uint32_t> codes_;  // the node's, rising
  Bin all_;                           // of the node
  Split best_;
  std::uint64_t equals_ = 0;
  ColumnTree tree_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CUBE_CUBE_GROWER_H_
