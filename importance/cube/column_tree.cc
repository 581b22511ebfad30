// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/column_tree.h"

#include <cmath>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace frostline::importance {
namespace {

absl::Status NoTree(std::size_t node, const std::string& cause) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("node ", node, " ", cause),
                   "give a tree as its library recorded it",
                   absl::StrCat("tree.nodes[", node, "]"));
}

// A child after its parent and with one parent cannot be in a circle.
absl::Status CheckChildren(const TreeArrays& arrays, std::size_t node,
                           std::vector<bool>& has_parent) {
  for (const int child : {arrays.left[node], arrays.right[node]}) {
    if (child <= static_cast<int>(node) ||
        child >= static_cast<int>(has_parent.size())) {
      return NoTree(node, absl::StrCat("has the child ", child));
    }
    const auto place = static_cast<std::size_t>(child);
    if (has_parent[place]) {
      return NoTree(place, "is a child twice");
    }
    has_parent[place] = true;
  }
  return absl::OkStatus();
}

// What each column's splits took off the squared error.
std::vector<double> DecreasesOf(const ColumnTree& tree, std::size_t columns) {
  std::vector<double> decrease(columns, 0.0);
  for (const ColumnNode& node : tree) {
    if (node.column < 0) continue;
    const ColumnNode& left = tree[node.left];
    const ColumnNode& right = tree[node.right];
    const double apart = left.value - right.value;
    decrease[static_cast<std::size_t>(node.column)] +=
        left.weight * right.weight / node.weight * apart * apart;
  }
  return decrease;
}

}  // namespace

absl::StatusOr<ColumnTree> ImportTree(const TreeArrays& arrays,
                                      std::size_t columns) {
  const std::size_t count = arrays.feature.size();
  if (count == 0 || arrays.threshold.size() != count ||
      arrays.left.size() != count || arrays.right.size() != count ||
      arrays.value.size() != count ||
      (!arrays.weight.empty() && arrays.weight.size() != count)) {
    return NoTree(0, "is missing, or the arrays differ in length");
  }
  ColumnTree tree(count);
  std::vector<bool> has_parent(count, false);
  has_parent[0] = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!has_parent[i]) return NoTree(i, "has no parent before it");
    tree[i].value = arrays.value[i];
    if (!arrays.weight.empty()) tree[i].weight = arrays.weight[i];
    if (!std::isfinite(tree[i].value) || !std::isfinite(tree[i].weight)) {
      return NoTree(i, "has no finite value");
    }
    if (arrays.feature[i] < 0) continue;
    if (static_cast<std::size_t>(arrays.feature[i]) >= columns ||
        !std::isfinite(arrays.threshold[i])) {
      return NoTree(i, "splits what is no column, or nowhere");
    }
    RETURN_IF_ERROR(CheckChildren(arrays, i, has_parent));
    tree[i].column = arrays.feature[i];
    tree[i].threshold = arrays.threshold[i];
    tree[i].left = static_cast<std::size_t>(arrays.left[i]);
    tree[i].right = static_cast<std::size_t>(arrays.right[i]);
  }
  return tree;
}

std::vector<double> ImpurityShares(const std::vector<ColumnTree>& trees,
                                   const std::vector<ColumnGroup>& groups) {
  std::size_t columns = 0;
  for (const ColumnGroup& group : groups) columns += group.size();
  std::vector<double> shares(groups.size(), 0.0);
  for (const ColumnTree& tree : trees) {
    const std::vector<double> decrease = DecreasesOf(tree, columns);
    const double all = std::accumulate(decrease.begin(), decrease.end(), 0.0);
    if (!(all > 0.0)) continue;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const std::size_t c : groups[g]) shares[g] += decrease[c] / all;
    }
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (sum > 0.0) {
    for (double& share : shares) share /= sum;
  }
  return shares;
}

}  // namespace frostline::importance
