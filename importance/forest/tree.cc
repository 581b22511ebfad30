// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "importance/forest/split_search.h"

namespace frostline::importance {
namespace {

// As deep as the peers' forests go; a path of 64 splits has seen enough.
constexpr int kMaxDepth = 64;

struct Pending {
  int node = 0;
  std::size_t begin = 0;  // rows of the node
  std::size_t end = 0;
  int depth = 0;
};

bool GoesLeft(const TreeNode& node, double code) {
  if (node.goes_left.empty()) return code <= node.threshold;
  return node.goes_left[static_cast<std::size_t>(code)];
}

std::uint64_t SumOf(const std::vector<std::uint32_t>& weights) {
  return std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
}

class Grower {
 public:
  Grower(const Dataset& data, const std::vector<double>& targets,
         const std::vector<std::uint32_t>& weights, Rng& rng,
         const std::stop_token& stop)
      : data_(data),
        targets_(targets),
        rng_(rng),
        stop_(stop),
        search_(data, SumOf(weights)) {
    const double scale = ScaleOfTargets(targets, SumOf(weights));
    rows_.reserve(weights.size());
    for (std::uint32_t row = 0; row < weights.size(); ++row) {
      if (weights[row] == 0) continue;
      const auto whole =
          static_cast<std::int64_t>(std::nearbyint(targets[row] * scale));
      rows_.push_back({row, weights[row], weights[row] * whole});
    }
    right_.reserve(rows_.size());
    // Every leaf has a row, and every split two children.
    tree_.nodes.reserve(2 * rows_.size());
  }

  Tree Grow() {
    tree_.nodes.emplace_back();
    std::vector<Pending> stack = {{0, 0, rows_.size(), 0}};
    while (!stack.empty()) {
      const Pending work = stack.back();
      stack.pop_back();
      const std::size_t middle = SplitNode(work);
      if (middle == work.end) continue;
      const TreeNode& node = tree_.nodes[static_cast<std::size_t>(work.node)];
      stack.push_back({node.right, middle, work.end, work.depth + 1});
      stack.push_back({node.left, work.begin, middle, work.depth + 1});
    }
    return std::move(tree_);
  }

 private:
  bool AreAlike(std::span<const DrawnRow> rows) const {
    const double first = targets_[rows.front().row];
    return std::all_of(rows.begin(), rows.end(), [&](const DrawnRow& drawn) {
      return targets_[drawn.row] == first;
    });
  }

  double MeanOf(std::span<const DrawnRow> rows) const {
    double weight = 0.0, sum = 0.0;
    for (const DrawnRow& drawn : rows) {
      weight += drawn.weight;
      sum += drawn.weight * targets_[drawn.row];
    }
    return sum / weight;
  }

  // Moves the rows that go left before the others, all in their order, and
  // returns how many go left.
  std::size_t Part(const TreeSplit& split, std::span<DrawnRow> rows) {
    const BinnedAxis& bins = data_.bins[static_cast<std::size_t>(split.axis)];
    right_.clear();
    std::size_t left = 0;
    for (const DrawnRow& drawn : rows) {
      const std::uint16_t bin = bins.bin_of_row[drawn.row];
      const bool goes_left =
          bins.is_ordered
              ? bin <= split.last_bin
              : split.goes_left[static_cast<std::size_t>(bins.lowest[bin])];
      if (goes_left) {
        rows[left++] = drawn;
      } else {
        right_.push_back(drawn);
      }
    }
    std::copy(right_.begin(), right_.end(),
              rows.begin() + static_cast<std::ptrdiff_t>(left));
    return left;
  }

  // Where the right child's rows begin; the end when the node stays a leaf.
  std::size_t SplitNode(const Pending& work) {
    const auto rows =
        std::span(rows_).subspan(work.begin, work.end - work.begin);
    TreeNode& node = tree_.nodes[static_cast<std::size_t>(work.node)];
    if (AreAlike(rows)) {
      node.value = targets_[rows.front().row];
      return work.end;
    }
    TreeSplit split;
    if (work.depth < kMaxDepth && !stop_.stop_requested()) {
      split = search_.FindBest(rows, rng_);
    }
    if (split.axis < 0) {
      node.value = MeanOf(rows);
      return work.end;
    }
    const std::size_t left = Part(split, rows);
    node.axis = split.axis;
    node.threshold = split.threshold;
    node.goes_left = std::move(split.goes_left);
    node.left = static_cast<int>(tree_.nodes.size());
    node.right = node.left + 1;
    tree_.nodes.resize(tree_.nodes.size() + 2);  // `node` is gone after this
    return work.begin + left;
  }

  const Dataset& data_;
  const std::vector<double>& targets_;
  Rng& rng_;
  const std::stop_token& stop_;
  SplitSearch search_;
  std::vector<DrawnRow> rows_;
  std::vector<DrawnRow> right_;
  Tree tree_;
};

}  // namespace

std::vector<bool> SplitsOn(const Tree& tree,
                           const std::vector<std::size_t>& axes) {
  std::vector<bool> splits(tree.nodes.size(), false);
  // Children come after their parent.
  for (std::size_t n = tree.nodes.size(); n-- > 0;) {
    const TreeNode& node = tree.nodes[n];
    if (node.axis < 0) continue;
    splits[n] = splits[static_cast<std::size_t>(node.left)] ||
                splits[static_cast<std::size_t>(node.right)] ||
                std::find(axes.begin(), axes.end(),
                          static_cast<std::size_t>(node.axis)) != axes.end();
  }
  return splits;
}

double Tree::Predict(const Dataset& data, std::size_t row) const {
  std::size_t i = 0;
  while (nodes[i].axis >= 0) {
    const double code =
        data.codes[static_cast<std::size_t>(nodes[i].axis)][row];
    i = static_cast<std::size_t>(GoesLeft(nodes[i], code) ? nodes[i].left
                                                          : nodes[i].right);
  }
  return nodes[i].value;
}

Tree FitTree(const Dataset& data, const std::vector<double>& targets,
             const std::vector<std::uint32_t>& weights, Rng& rng,
             const std::stop_token& stop) {
  return Grower(data, targets, weights, rng, stop).Grow();
}

}  // namespace frostline::importance
