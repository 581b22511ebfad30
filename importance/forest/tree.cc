// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/tree.h"

#include <algorithm>
#include <span>
#include <utility>

#include "importance/forest/split_search.h"

namespace frostline {
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

class Grower {
 public:
  Grower(const Dataset& data, const std::vector<double>& targets,
         const std::vector<std::uint32_t>& weights, Rng& rng)
      : data_(data),
        targets_(targets),
        weights_(weights),
        rng_(rng),
        search_(data, targets, weights) {
    for (std::uint32_t row = 0; row < weights.size(); ++row) {
      if (weights[row] > 0) rows_.push_back(row);
    }
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
  // Where the right child's rows begin; the end when the node stays a leaf.
  std::size_t SplitNode(const Pending& work) {
    const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(work.begin);
    const auto end = rows_.begin() + static_cast<std::ptrdiff_t>(work.end);
    TreeNode& node = tree_.nodes[static_cast<std::size_t>(work.node)];
    double weight = 0.0, sum = 0.0;
    bool alike = true;
    for (auto row = begin; row != end; ++row) {
      weight += weights_[*row];
      sum += weights_[*row] * targets_[*row];
      alike = alike && targets_[*row] == targets_[*begin];
    }
    node.value = alike ? targets_[*begin] : sum / weight;
    if (alike || work.depth >= kMaxDepth) return work.end;
    const TreeSplit split = search_.FindBest(std::span(begin, end), rng_);
    if (split.axis < 0) return work.end;
    node.axis = split.axis;
    node.threshold = split.threshold;
    node.goes_left = split.goes_left;
    const std::vector<double>& codes =
        data_.codes[static_cast<std::size_t>(split.axis)];
    const auto middle = std::stable_partition(
        begin, end,
        [&](std::uint32_t row) { return GoesLeft(node, codes[row]); });
    node.left = static_cast<int>(tree_.nodes.size());
    node.right = node.left + 1;
    tree_.nodes.resize(tree_.nodes.size() + 2);  // `node` is gone after this
    return static_cast<std::size_t>(middle - rows_.begin());
  }

  const Dataset& data_;
  const std::vector<double>& targets_;
  const std::vector<std::uint32_t>& weights_;
  Rng& rng_;
  SplitSearch search_;
  std::vector<std::uint32_t> rows_;
  Tree tree_;
};

}  // namespace

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
             const std::vector<std::uint32_t>& weights, Rng& rng) {
  return Grower(data, targets, weights, rng).Grow();
}

}  // namespace frostline
