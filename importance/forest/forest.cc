// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/forest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "importance/measure/evaluate_options.h"

namespace frostline::importance {
namespace {

// The whole numbers of a score, two products of a sum and a weight, are below
// 2^kBits.
constexpr int kBits = 61;
constexpr std::size_t kWordBits = 64;

}  // namespace

double ScaleOfTargets(const std::vector<double>& targets,
                      std::uint64_t all_weight) {
  double largest = 0.0;
  for (const double target : targets) {
    largest = std::max(largest, std::abs(target));
  }
  if (!(largest > 0.0)) return 1.0;
  const int room = kBits - 2 * static_cast<int>(std::bit_width(all_weight));
  // The power itself has to be finite, whatever the targets.
  return std::ldexp(1.0, std::clamp(room - 1 - std::ilogb(largest), -960, 960));
}

SplitSearch::SplitSearch(const Dataset& data, std::uint64_t all_weight)
    : data_(data), order_(data.axes.size()) {
  inverse_.reserve(all_weight + 1);
  inverse_.push_back(0.0);
  for (std::uint64_t weight = 1; weight <= all_weight; ++weight) {
    inverse_.push_back(1.0 / static_cast<double>(weight));
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::size_t most = 0;
  for (const BinnedAxis& axis : data.bins) {
    most = std::max(most, axis.lowest.size());
  }
  table_.resize(most);
  is_used_.resize(most / kWordBits + 1, 0);
  indices_.resize(most);
}

void SplitSearch::Collect(std::size_t axis, std::span<const DrawnRow> rows) {
  const std::uint16_t* const bin_of_row = data_.bins[axis].bin_of_row.data();
  for (const DrawnRow& row : rows) {
    const std::uint16_t index = bin_of_row[row.row];
    table_[index].sum += row.sum;
    table_[index].weight += row.weight;
    is_used_[index / kWordBits] |= std::uint64_t{1} << index % kWordBits;
  }
  std::size_t count = 0;
  const std::size_t words =
      (data_.bins[axis].lowest.size() + kWordBits - 1) / kWordBits;
  for (std::size_t word = 0; word < words; ++word) {
    for (std::uint64_t bits = is_used_[word]; bits != 0; bits &= bits - 1) {
      indices_[count++] = static_cast<std::uint16_t>(
          word * kWordBits + static_cast<std::size_t>(std::countr_zero(bits)));
    }
    is_used_[word] = 0;
  }
  used_ = std::span(indices_).first(count);
  if (data_.bins[axis].is_ordered) return;
  std::sort(used_.begin(), used_.end(),
            [this](std::uint16_t a, std::uint16_t b) {
              const std::int64_t left = table_[a].sum * table_[b].weight;
              const std::int64_t right = table_[b].sum * table_[a].weight;
              return left != right ? left < right : a < b;
            });
}

void SplitSearch::Empty() {
  for (const std::uint16_t index : used_) table_[index] = Bin();
}

SplitSearch::Cut SplitSearch::BestCut() const {
  Cut best;
  Bin left;
  for (std::size_t i = 0; i + 1 < used_.size(); ++i) {
    left.sum += table_[used_[i]].sum;
    left.weight += table_[used_[i]].weight;
    // How far the left's mean is from the node's, times both weights: what the
    // squared error falls by is its square by the weights of both sides.
    const auto apart =
        static_cast<double>(left.sum * all_.weight - all_.sum * left.weight);
    const double score =
        apart * apart *
        (inverse_[static_cast<std::size_t>(left.weight)] *
         inverse_[static_cast<std::size_t>(all_.weight - left.weight)]);
    if (score > best.score) best = {score, i};
  }
  return best;
}

TreeSplit SplitSearch::MakeSplit(std::size_t axis, std::size_t last) const {
  const BinnedAxis& binned = data_.bins[axis];
  TreeSplit split;
  split.axis = static_cast<int>(axis);
  if (binned.is_ordered) {
    split.last_bin = used_[last];
    const double below = binned.highest[used_[last]];
    const double above = binned.lowest[used_[last + 1]];
    split.threshold = below + (above - below) / 2.0;
    // Neighbouring doubles have no middle.
    if (split.threshold >= above) split.threshold = below;
    return split;
  }
  split.goes_left.resize(data_.axes[axis].choice_masses().size(), false);
  for (std::size_t i = 0; i <= last; ++i) {
    split.goes_left[static_cast<std::size_t>(binned.lowest[used_[i]])] = true;
  }
  return split;
}

int SplitSearch::AxisOfTwo(std::span<const DrawnRow> rows, Rng& rng) {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::size_t other =
        i + static_cast<std::size_t>(rng.Below(order_.size() - i));
    std::swap(order_[i], order_[other]);
    const std::vector<std::uint16_t>& bins = data_.bins[order_[i]].bin_of_row;
    if (bins[rows[0].row] != bins[rows[1].row]) {
      return static_cast<int>(order_[i]);
    }
  }
  return -1;
}

TreeSplit SplitSearch::FindBest(std::span<const DrawnRow> rows, Rng& rng) {
  all_ = Bin();
  for (const DrawnRow& row : rows) {
    all_.sum += row.sum;
    all_.weight += row.weight;
  }
  int axis = -1;
  if (rows.size() == 2) {
    axis = AxisOfTwo(rows, rng);
  } else {
    double score = -1.0;
    std::uint64_t equals = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (data_.bins[i].lowest.size() < 2) continue;
      Collect(i, rows);
      const Cut cut = BestCut();
      Empty();
      if (cut.score < 0.0 || cut.score < score) continue;
      equals = cut.score > score ? 1 : equals + 1;
      score = cut.score;
      if (equals == 1 || rng.Below(equals) == 0) axis = static_cast<int>(i);
    }
  }
  if (axis < 0) return TreeSplit();
  Collect(static_cast<std::size_t>(axis), rows);
  const TreeSplit split =
      MakeSplit(static_cast<std::size_t>(axis), BestCut().last);
  Empty();
  return split;
}

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

namespace {

constexpr double kNoTree = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kTreeBlock = 256;  // rows that one thread takes at a time

}  // namespace

RowWeights DrawRows(const RowWeights& among, Rng& rng) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < among.size(); ++row) {
    rows.insert(rows.end(), among[row], row);
  }
  RowWeights drawn(among.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++drawn[rows[static_cast<std::size_t>(rng.Below(rows.size()))]];
  }
  return drawn;
}

Forest FitForest(const Dataset& data, const std::vector<double>& targets,
                 const RowWeights& among, int trees, std::uint64_t seed,
                 std::uint64_t stream, int threads,
                 const std::stop_token& stop) {
  Forest forest;
  forest.trees.resize(static_cast<std::size_t>(trees));
  forest.drawn.resize(forest.trees.size());
  ParallelFor(threads, forest.trees.size(), [&](std::size_t t) {
    Rng rng(seed, stream + t);
    forest.drawn[t] = DrawRows(among, rng);
    forest.trees[t] = FitTree(data, targets, forest.drawn[t], rng, stop);
  });
  return forest;
}

double OutOfBagR2(const Dataset& data, const Forest& forest, int threads) {
  // NaN: every tree has seen the row.
  std::vector<double> predictions(data.rows(), kNoTree);
  const std::size_t blocks = (data.rows() + kTreeBlock - 1) / kTreeBlock;
  ParallelFor(threads, blocks, [&](std::size_t block) {
    const std::size_t end = std::min(data.rows(), (block + 1) * kTreeBlock);
    for (std::size_t row = block * kTreeBlock; row < end; ++row) {
      double prediction = 0.0, trees = 0.0;
      for (std::size_t t = 0; t < forest.trees.size(); ++t) {
        if (forest.drawn[t][row] > 0) continue;
        prediction += forest.trees[t].Predict(data, row);
        trees += 1.0;
      }
      if (trees > 0.0) predictions[row] = prediction / trees;
    }
  });
  double rows = 0.0, sum = 0.0, squares = 0.0, errors = 0.0;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    if (std::isnan(predictions[row])) continue;
    const double target = data.targets[row];
    const double error = target - predictions[row];
    rows += 1.0;
    sum += target;
    squares += target * target;
    errors += error * error;
  }
  const double spread = rows > 0.0 ? squares - sum * sum / rows : 0.0;
  return spread > 0.0 ? 1.0 - errors / spread : kNoTree;
}

}  // namespace frostline::importance
