// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/split_pairs.h"

#include <algorithm>

#include "importance/measure/numbers.h"
#include "importance/mixture/fine_box.h"

namespace frostline::importance {
namespace {

class GainWalk {
 public:
  explicit GainWalk(const std::vector<FineAxis>& axes)
      : box_(axes), gains_(axes.size(), 0.0) {}

  // Returns the mean over the node's box, which has this mass.
  double Add(const Tree& tree, std::size_t at, double mass) {
    const TreeNode& node = tree.nodes[at];
    if (node.axis < 0) return node.value;
    double& gain = gains_[static_cast<std::size_t>(node.axis)];
    double mean = 0.0;
    double reached = 0.0;
    box_.EnterChildren(node, [&](std::size_t child, double share) {
      const double value = Add(tree, child, mass * share);
      if (reached > 0.0) {  // the second of both
        const double apart = value - mean / reached;
        gain += mass * share * reached * apart * apart;
      }
      mean += share * value;
      reached += share;
    });
    return mean;
  }

  const std::vector<double>& gains() const { return gains_; }

 private:
  FineBox box_;
  std::vector<double> gains_;
};

}  // namespace

std::vector<double> FindSplitGains(const std::vector<FineAxis>& axes,
                                   std::span<const Tree> trees) {
  GainWalk walk(axes);
  for (const Tree& tree : trees) walk.Add(tree, 0, 1.0);
  return walk.gains();
}

std::vector<AxisPair> ChoosePairs(const std::vector<double>& gains,
                                  const std::vector<AxisPair>& always) {
  const std::vector<int> ranks = RankByFalling(gains);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < gains.size(); ++i) {
    if (ranks[i] <= static_cast<int>(kMaxForestPairAxes)) chosen.push_back(i);
  }
  std::vector<AxisPair> pairs = always;
  pairs.reserve(always.size() + chosen.size() * chosen.size() / 2);
  for (std::size_t a = 0; a < chosen.size(); ++a) {
    for (std::size_t b = a + 1; b < chosen.size(); ++b) {
      pairs.emplace_back(chosen[a], chosen[b]);
    }
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace frostline::importance
