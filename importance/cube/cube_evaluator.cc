// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/cube_evaluator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "importance/cube/cube_forest.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/report.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

// How far a node's box reaches along the column it splits.
std::pair<double, double> ReachOf(const ColumnTree& tree,
                                  const std::vector<std::size_t>& parents,
                                  const std::vector<double>& places,
                                  std::size_t node) {
  double low = 0.0, high = 1.0;
  const int column = tree[node].column;
  for (std::size_t at = node; parents[at] != kNoParent; at = parents[at]) {
    const std::size_t parent = parents[at];
    if (tree[parent].column != column) continue;
    if (tree[parent].left == at) {
      high = std::min(high, places[parent]);
    } else {
      low = std::max(low, places[parent]);
    }
  }
  return {low, high};
}

}  // namespace

CubeTree::Side& CubeTree::SideOf(Box& box, std::size_t column) {
  const auto place = std::lower_bound(
      box.sides.begin(), box.sides.end(), column,
      [](const Side& side, std::size_t c) { return side.column < c; });
  if (place != box.sides.end() && place->column == column) return *place;
  return *box.sides.insert(place, Side{column, 0.0, 1.0});
}

// How much of the space two boxes have in common.
double CubeTree::CommonMass(const Box& a, const Box& b) {
  double mass = 1.0;
  auto x = a.sides.begin();
  auto y = b.sides.begin();
  while (x != a.sides.end() || y != b.sides.end()) {
    double low = 0.0, high = 1.0;
    const bool both = x != a.sides.end() && y != b.sides.end();
    const bool take_x = y == b.sides.end() || (both && x->column <= y->column);
    const bool take_y = x == a.sides.end() || (both && y->column <= x->column);
    if (take_x) {
      low = x->low;
      high = x->high;
      ++x;
    }
    if (take_y) {
      low = std::max(low, y->low);
      high = std::min(high, y->high);
      ++y;
    }
    if (high <= low) return 0.0;
    mass *= high - low;
  }
  return mass;
}

double CubeTree::SumOverPairs(const std::vector<Box>& boxes) {
  double sum = 0.0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    double others = 0.0;
    for (std::size_t j = 0; j < i; ++j) {
      others += boxes[j].value * CommonMass(boxes[i], boxes[j]);
    }
    sum += boxes[i].value *
           (2.0 * others + boxes[i].value * CommonMass(boxes[i], boxes[i]));
  }
  return sum;
}

double CubeTree::SweepOneColumn(const std::vector<Box>& boxes) {
  // Where a box begins its value is added, where it ends taken away.
  std::vector<std::pair<double, double>> steps = {{1.0, 0.0}};
  for (const Box& box : boxes) {
    const Side side = box.sides.empty() ? Side() : box.sides.front();
    steps.emplace_back(side.low, box.value);
    steps.emplace_back(side.high, -box.value);
  }
  std::sort(steps.begin(), steps.end());
  double sum = 0.0, height = 0.0, place = 0.0;
  for (const auto& [next, change] : steps) {
    sum += (next - place) * height * height;
    place = next;
    height += change;
  }
  return sum;
}

CubeTree::CubeTree(const ColumnTree& tree, const std::vector<Column>& columns)
    : tree_(tree),
      left_share_(tree.size(), 0.0),
      place_(tree.size(), 0.0),
      mean_(tree.size(), 0.0),
      columns_(columns.size()) {
  std::vector<std::size_t> parents(tree.size(), kNoParent);
  std::vector<double> mass(tree.size(), 1.0);
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const ColumnNode& node = tree[i];
    if (node.column < 0) continue;
    const Column& column = columns[static_cast<std::size_t>(node.column)];
    // Halves, because the range of two finite numbers need not be finite.
    place_[i] = std::clamp((node.threshold / 2.0 - column.low / 2.0) /
                               (column.high / 2.0 - column.low / 2.0),
                           0.0, 1.0);
    const auto [low, high] = ReachOf(tree, parents, place_, i);
    left_share_[i] =
        high > low ? std::clamp((place_[i] - low) / (high - low), 0.0, 1.0)
                   : 0.0;
    parents[node.left] = parents[node.right] = i;
    mass[node.left] = mass[i] * left_share_[i];
    mass[node.right] = mass[i] * (1.0 - left_share_[i]);
  }
  for (std::size_t i = tree.size(); i-- > 0;) {
    mean_[i] = tree[i].column < 0
                   ? tree[i].value
                   : left_share_[i] * mean_[tree[i].left] +
                         (1.0 - left_share_[i]) * mean_[tree[i].right];
  }
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].column >= 0) continue;
    const double away = tree[i].value - mean_[0];
    variance_ += mass[i] * away * away;
  }
}

std::vector<CubeTree::Box> CubeTree::BoxesOf(const ColumnGroup& group) const {
  std::vector<bool> is_member(columns_, false);
  for (const std::size_t column : group) is_member[column] = true;
  const auto splits_group = [&](std::size_t i) {
    return tree_[i].column >= 0 &&
           is_member[static_cast<std::size_t>(tree_[i].column)];
  };
  // Below a node that is not touched, the group is split no more.
  std::vector<bool> is_touched(tree_.size(), false);
  for (std::size_t i = tree_.size(); i-- > 0;) {
    is_touched[i] = splits_group(i) ||
                    (tree_[i].column >= 0 &&
                     (is_touched[tree_[i].left] || is_touched[tree_[i].right]));
  }
  struct Step {
    std::size_t node = 0;
    Box box;
  };
  std::vector<Box> boxes;
  std::vector<Step> stack = {{0, {{}, 1.0}}};
  while (!stack.empty()) {
    Step left = std::move(stack.back());
    stack.pop_back();
    const std::size_t i = left.node;
    if (!is_touched[i]) {
      left.box.value *= mean_[i] - mean_[0];
      boxes.push_back(std::move(left.box));
      continue;
    }
    Step right = left;
    left.node = tree_[i].left;
    right.node = tree_[i].right;
    if (splits_group(i)) {
      const auto column = static_cast<std::size_t>(tree_[i].column);
      double& high = SideOf(left.box, column).high;
      double& low = SideOf(right.box, column).low;
      high = std::min(high, place_[i]);
      low = std::max(low, place_[i]);
    } else {
      left.box.value *= left_share_[i];
      right.box.value *= 1.0 - left_share_[i];
    }
    stack.push_back(std::move(right));
    stack.push_back(std::move(left));
  }
  return boxes;
}

double CubeTree::MarginalVariance(const ColumnGroup& group) const {
  std::vector<Box> boxes = BoxesOf(group);
  std::sort(boxes.begin(), boxes.end(),
            [](const Box& a, const Box& b) { return a.sides < b.sides; });
  // Branches that differ in other columns alone end in the same box.
  std::size_t last = 0;
  for (std::size_t i = 1; i < boxes.size(); ++i) {
    if (boxes[i].sides == boxes[last].sides) {
      boxes[last].value += boxes[i].value;
    } else if (++last != i) {
      boxes[last] = std::move(boxes[i]);
    }
  }
  boxes.resize(last + 1);
  const double variance =
      group.size() == 1 ? SweepOneColumn(boxes) : SumOverPairs(boxes);
  return std::max(variance, 0.0);
}

std::vector<double> CubeShares(const std::vector<ColumnTree>& trees,
                               const std::vector<Column>& columns,
                               const std::vector<ColumnGroup>& groups,
                               int threads, const std::stop_token& stop) {
  std::vector<std::vector<double>> of_tree(trees.size());
  ParallelFor(
      threads, trees.size(),
      [&](std::size_t t) {
        const CubeTree cube(trees[t], columns);
        if (!(cube.variance() > 0.0)) return;
        of_tree[t].resize(groups.size(), 0.0);
        for (std::size_t g = 0; g < groups.size(); ++g) {
          if (groups[g].empty() || stop.stop_requested()) continue;
          of_tree[t][g] = cube.MarginalVariance(groups[g]) / cube.variance();
        }
      },
      stop);
  std::vector<double> shares(groups.size(), 0.0);
  double used = 0.0;
  for (const std::vector<double>& tree : of_tree) {
    if (tree.empty()) continue;
    used += 1.0;
    for (std::size_t g = 0; g < groups.size(); ++g) shares[g] += tree[g];
  }
  if (used > 0.0) {
    for (double& share : shares) share /= used;
  }
  return shares;
}

namespace {

constexpr int kTreesPerDraw = 8;
constexpr int kCubeShuffles = 16;

// Streams of one seed, far apart; the forest itself has those from 0.
constexpr std::uint64_t kCubeDrawStream = std::uint64_t{1} << 32;
constexpr std::uint64_t kCubeShuffleStream = std::uint64_t{2} << 32;
// The random streams of one draw or shuffle: its own, then those of its trees.
constexpr std::uint64_t kCubeStreamsEach = 1 + kTreesPerDraw;

using ShareFinder = std::vector<double> (*)(const CubeData& data,
                                            const CubeForest& forest,
                                            int threads,
                                            const std::stop_token& stop);

std::vector<double> CubeSharesOf(const CubeData& data, const CubeForest& forest,
                                 int threads, const std::stop_token& stop) {
  return CubeShares(forest.trees, data.columns, data.groups, threads, stop);
}

std::vector<double> ImpuritySharesOf(const CubeData& data,
                                     const CubeForest& forest, int,
                                     const std::stop_token&) {
  return ImpurityShares(forest.trees, data.groups);
}

// Returns the largest share that each parameter had in several shufflings of
// the targets.
std::vector<double> ChanceShares(const CubeData& data, ShareFinder shares_of,
                                 std::uint64_t seed, int threads,
                                 const std::stop_token& stop) {
  std::vector<std::vector<double>> shares(kCubeShuffles);
  ParallelFor(
      threads, shares.size(),
      [&](std::size_t s) {
        const std::uint64_t stream = kCubeShuffleStream + s * kCubeStreamsEach;
        Rng rng(seed, stream);
        std::vector<double> targets = data.targets;
        Shuffle(targets, rng);
        shares[s] =
            shares_of(data,
                      GrowCubeForest(data, targets, CubeWeights(data.rows(), 1),
                                     kTreesPerDraw, seed, stream + 1, 1, stop),
                      1, stop);
      },
      stop);
  if (stop.stop_requested()) return {};
  std::vector<double> most(data.groups.size(), 0.0);
  for (const std::vector<double>& shuffle : shares) {
    for (std::size_t i = 0; i < most.size(); ++i) {
      most[i] = std::max(most[i], shuffle[i]);
    }
  }
  return most;
}

// What each parameter has on trials drawn anew.
std::vector<std::vector<double>> DrawCubeShares(
    const CubeData& data, ShareFinder shares_of,
    const EvaluateOptions& options) {
  const CubeWeights all(data.rows(), 1);
  std::vector<std::vector<double>> draws(
      static_cast<std::size_t>(options.bootstraps));
  ParallelFor(
      options.threads, draws.size(),
      [&](std::size_t b) {
        const std::uint64_t stream = kCubeDrawStream + b * kCubeStreamsEach;
        Rng rng(options.seed, stream);
        draws[b] =
            shares_of(data,
                      GrowCubeForest(data, data.targets, DrawCubeRows(all, rng),
                                     kTreesPerDraw, options.seed, stream + 1, 1,
                                     options.stop),
                      1, options.stop);
      },
      options.stop);
  return draws;
}

absl::StatusOr<Report> EvaluateCube(const Space& space,
                                    const Selection& selection,
                                    const EvaluateOptions& options,
                                    ShareFinder shares_of) {
  const std::size_t rows = selection.points.size();
  const std::size_t axes = space.parameters().size();
  RETURN_IF_ERROR(CheckTreeWork(rows, axes, options.trees));
  const bool draws = CanGrowForIntervals(
      rows, axes, (options.bootstraps + kCubeShuffles) * kTreesPerDraw);
  const CubeData data = MakeCubeData(space, selection);
  const CubeForest forest = GrowCubeForest(
      data, data.targets, CubeWeights(data.rows(), 1), options.trees,
      options.seed, 0, options.threads, options.stop);
  PlainShares shares;
  shares.shares = shares_of(data, forest, options.threads, options.stop);
  if (draws) shares.replicates = DrawCubeShares(data, shares_of, options);
  if (draws) {
    shares.chance = ChanceShares(data, shares_of, options.seed, options.threads,
                                 options.stop);
  } else {
    shares.chance.assign(shares.shares.size(),
                         std::numeric_limits<double>::infinity());
  }
  RETURN_IF_ERROR(CheckStop(options.stop));
  Report report = MakePlainReport(shares);
  report.trials_used = static_cast<std::int64_t>(data.rows());
  report.trials_left_out = selection.left_out;
  report.out_of_bag_r2 = OutOfBagR2(data, forest);
  report.warnings = FindWarnings(
      space,
      MakeDataset(MeasureSpace(space), selection.points, selection.losses));
  for (ReportWarning& warning : WarnOfLeftOut(data.partial)) {
    report.warnings.push_back(std::move(warning));
  }
  if (!draws) report.warnings.push_back(WarnOfNoIntervals(rows, axes));
  return report;
}

}  // namespace

absl::StatusOr<Report> EvaluateFanovaOptuna(const Space& space,
                                            const Selection& selection,
                                            const EvaluateOptions& options) {
  return EvaluateCube(space, selection, options, CubeSharesOf);
}

absl::StatusOr<Report> EvaluateMdi(const Space& space,
                                   const Selection& selection,
                                   const EvaluateOptions& options) {
  return EvaluateCube(space, selection, options, ImpuritySharesOf);
}

}  // namespace frostline::importance
