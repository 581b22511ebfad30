// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/cube_forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "importance/measure/evaluate_options.h"

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

namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

// Returns the column of a number; nothing for choices and levels.
std::optional<Column> NumberColumn(const Domain& domain) {
  if (const auto* rate = std::get_if<LogUniform>(&domain)) {
    return Column{rate->freeze ? 0.0 : rate->lo, rate->hi};
  }
  if (const auto* number = std::get_if<FloatRange>(&domain)) {
    return Column{number->lo, number->hi};
  }
  if (const auto* integer = std::get_if<IntRange>(&domain)) {
    return Column{static_cast<double>(integer->lo),
                  static_cast<double>(integer->hi)};
  }
  return std::nullopt;
}

void FillNumbers(const std::vector<const Point*>& points, std::size_t parameter,
                 CubeData::Axis& axis) {
  for (const Point* const point : points) {
    axis.numbers.push_back(static_cast<float>(
        std::clamp((*point)[parameter], -kLargest, kLargest)));
  }
  const std::vector<float> by_row = axis.numbers;
  std::sort(axis.numbers.begin(), axis.numbers.end());
  axis.numbers.erase(std::unique(axis.numbers.begin(), axis.numbers.end()),
                     axis.numbers.end());
  for (const float number : by_row) {
    const auto found =
        std::lower_bound(axis.numbers.begin(), axis.numbers.end(), number);
    axis.code_of_row.push_back(
        static_cast<std::uint32_t>(found - axis.numbers.begin()));
  }
}

void AddAxis(const Domain& domain, const std::vector<const Point*>& points,
             std::size_t parameter, CubeData& data) {
  CubeData::Axis axis;
  axis.first_column = data.columns.size();
  const std::optional<Column> column = NumberColumn(domain);
  axis.is_number = column.has_value();
  if (column.has_value()) {
    data.columns.push_back(*column);
    FillNumbers(points, parameter, axis);
  } else {
    axis.choices = static_cast<std::size_t>(CountValues(domain));
    data.columns.resize(data.columns.size() + axis.choices);
    for (const Point* const point : points) {
      axis.code_of_row.push_back(
          static_cast<std::uint32_t>((*point)[parameter]));
    }
  }
  for (std::size_t c = axis.first_column; c < data.columns.size(); ++c) {
    data.groups[parameter].push_back(c);
  }
  data.axes.push_back(std::move(axis));
}

double Predict(const CubeData& data, const ColumnTree& tree,
               const std::vector<std::size_t>& axis_of_column,
               std::size_t row) {
  std::size_t at = 0;
  while (tree[at].column >= 0) {
    const auto column = static_cast<std::size_t>(tree[at].column);
    const CubeData::Axis& axis = data.axes[axis_of_column[column]];
    const std::uint32_t code = axis.code_of_row[row];
    const bool left =
        axis.is_number
            ? static_cast<double>(axis.numbers[code]) <= tree[at].threshold
            : code != column - axis.first_column;
    at = left ? tree[at].left : tree[at].right;
  }
  return tree[at].value;
}

}  // namespace

CubeData MakeCubeData(const Space& space, const Selection& selection) {
  CubeData data;
  data.groups.resize(space.parameters().size());
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    const Domain& domain = space.parameters()[i].domain;
    const bool is_partial =
        std::any_of(selection.points.begin(), selection.points.end(),
                    [i](const Point* p) { return IsAbsent((*p)[i]); });
    if (is_partial) {
      data.partial.push_back(static_cast<int>(i));
    } else if (CountValues(domain) > 1.0) {
      AddAxis(domain, selection.points, i, data);
    }
  }
  const auto [lowest, highest] =
      std::minmax_element(selection.losses.begin(), selection.losses.end());
  // Halves, because the range of two finite numbers need not be finite.
  const double middle = *lowest / 2.0 + *highest / 2.0;
  const double radius = *highest / 2.0 - *lowest / 2.0;
  for (const double loss : selection.losses) {
    data.targets.push_back((loss / 2.0 - middle / 2.0) / radius * 2.0);
  }
  return data;
}

CubeWeights DrawCubeRows(const CubeWeights& among, Rng& rng) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < among.size(); ++row) {
    rows.insert(rows.end(), among[row], row);
  }
  CubeWeights drawn(among.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++drawn[rows[static_cast<std::size_t>(rng.Below(rows.size()))]];
  }
  return drawn;
}

CubeForest GrowCubeForest(const CubeData& data,
                          const std::vector<double>& targets,
                          const CubeWeights& among, int trees,
                          std::uint64_t seed, std::uint64_t stream, int threads,
                          const std::stop_token& stop) {
  CubeForest forest;
  forest.trees.resize(static_cast<std::size_t>(trees));
  forest.drawn.resize(forest.trees.size());
  ParallelFor(threads, forest.trees.size(), [&](std::size_t t) {
    Rng rng(seed, stream + t);
    forest.drawn[t] = DrawCubeRows(among, rng);
    forest.trees[t] =
        CubeGrower(data, targets, forest.drawn[t], rng, stop).Grow();
  });
  return forest;
}

double OutOfBagR2(const CubeData& data, const CubeForest& forest) {
  std::vector<std::size_t> axis_of_column(data.columns.size(), 0);
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const CubeData::Axis& axis = data.axes[i];
    const std::size_t width = axis.is_number ? 1 : axis.choices;
    for (std::size_t c = 0; c < width; ++c) {
      axis_of_column[axis.first_column + c] = i;
    }
  }
  double rows = 0.0, sum = 0.0, squares = 0.0, errors = 0.0;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    double prediction = 0.0, trees = 0.0;
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      if (forest.drawn[t][row] > 0) continue;
      prediction += Predict(data, forest.trees[t], axis_of_column, row);
      trees += 1.0;
    }
    if (trees == 0.0) continue;
    const double error = data.targets[row] - prediction / trees;
    rows += 1.0;
    sum += data.targets[row];
    squares += data.targets[row] * data.targets[row];
    errors += error * error;
  }
  const double spread = rows > 0.0 ? squares - sum * sum / rows : 0.0;
  return spread > 0.0 ? 1.0 - errors / spread
                      : std::numeric_limits<double>::quiet_NaN();
}

namespace {

constexpr int kMaxCubeDepth = 64;
// As scikit-learn has them.
constexpr float kNearest = 1e-7f;
constexpr double kPure = std::numeric_limits<double>::epsilon();

}  // namespace

CubeGrower::CubeGrower(const CubeData& data, const std::vector<double>& targets,
                       const CubeWeights& weights, Rng& rng,
                       const std::stop_token& stop)
    : data_(data),
      targets_(targets),
      weights_(weights),
      rng_(rng),
      stop_(stop) {
  std::size_t most = 0;
  for (const CubeData::Axis& axis : data.axes) {
    most = std::max({most, axis.numbers.size(), axis.choices});
  }
  table_.resize(most);
  for (std::uint32_t row = 0; row < weights.size(); ++row) {
    if (weights[row] > 0) rows_.push_back(row);
  }
}

void CubeGrower::Collect(const CubeData::Axis& axis,
                         std::span<const std::uint32_t> rows) {
  codes_.clear();
  for (const std::uint32_t row : rows) {
    const std::uint32_t code = axis.code_of_row[row];
    Bin& bin = table_[code];
    if (bin.weight == 0.0) codes_.push_back(code);
    bin.weight += weights_[row];
    bin.sum += weights_[row] * targets_[row];
  }
  std::sort(codes_.begin(), codes_.end());
}

double CubeGrower::ScoreOf(double left_weight, double left_sum) const {
  const double right_sum = all_.sum - left_sum;
  // Squared error falls by this, but for what does not depend on the split.
  return left_sum * left_sum / left_weight +
         right_sum * right_sum / (all_.weight - left_weight);
}

void CubeGrower::Offer(const Split& split) {
  if (best_.column >= 0 && split.score < best_.score) return;
  const bool is_equal = best_.column >= 0 && split.score == best_.score;
  equals_ = is_equal ? equals_ + 1 : 1;
  if (!is_equal || rng_.Below(equals_) == 0) best_ = split;
}

void CubeGrower::TryNumber(std::size_t axis) {
  const std::vector<float>& numbers = data_.axes[axis].numbers;
  Split split;
  split.axis = axis;
  double weight = 0.0, sum = 0.0;
  for (std::size_t i = 0; i + 1 < codes_.size(); ++i) {
    weight += table_[codes_[i]].weight;
    sum += table_[codes_[i]].sum;
    const float below = numbers[codes_[i]];
    const float above = numbers[codes_[i + 1]];
    if (above <= below + kNearest) continue;
    const double score = ScoreOf(weight, sum);
    if (split.column >= 0 && score <= split.score) continue;
    split.column = static_cast<int>(data_.axes[axis].first_column);
    split.code = codes_[i];
    split.score = score;
    split.threshold =
        static_cast<double>(below) / 2.0 + static_cast<double>(above) / 2.0;
  }
  if (split.column >= 0) Offer(split);
}

void CubeGrower::TryChoices(std::size_t axis) {
  if (codes_.size() < 2) return;
  for (const std::uint32_t code : codes_) {
    Split split;
    split.axis = axis;
    split.code = code;
    split.column = static_cast<int>(data_.axes[axis].first_column + code);
    split.score = ScoreOf(table_[code].weight, table_[code].sum);
    Offer(split);
  }
}

bool CubeGrower::IsPure(std::span<const std::uint32_t> rows, ColumnNode& node) {
  all_ = Bin();
  for (const std::uint32_t row : rows) {
    all_.weight += weights_[row];
    all_.sum += weights_[row] * targets_[row];
  }
  node.weight = all_.weight;
  node.value = all_.sum / all_.weight;
  double squares = 0.0;
  for (const std::uint32_t row : rows) {
    const double away = targets_[row] - node.value;
    squares += weights_[row] * away * away;
  }
  return squares / all_.weight <= kPure;
}

std::size_t CubeGrower::SplitNode(std::size_t node,
                                  std::span<std::uint32_t> rows) {
  best_ = Split();
  for (std::size_t i = 0; i < data_.axes.size(); ++i) {
    Collect(data_.axes[i], rows);
    data_.axes[i].is_number ? TryNumber(i) : TryChoices(i);
    for (const std::uint32_t code : codes_) table_[code] = Bin();
  }
  if (best_.column < 0) return 0;
  const CubeData::Axis& axis = data_.axes[best_.axis];
  const auto middle =
      std::stable_partition(rows.begin(), rows.end(), [&](std::uint32_t row) {
        const std::uint32_t code = axis.code_of_row[row];
        return axis.is_number ? code <= best_.code : code != best_.code;
      });
  tree_[node].column = best_.column;
  tree_[node].threshold = best_.threshold;
  tree_[node].left = tree_.size();
  tree_[node].right = tree_.size() + 1;
  tree_.resize(tree_.size() + 2);
  return static_cast<std::size_t>(middle - rows.begin());
}

ColumnTree CubeGrower::Grow() {
  struct Pending {
    std::size_t node = 0;
    std::span<std::uint32_t> rows;
    int depth = 0;
  };
  tree_.assign(1, ColumnNode());
  std::vector<Pending> stack = {{0, rows_, 0}};
  while (!stack.empty()) {
    const Pending work = stack.back();
    stack.pop_back();
    if (IsPure(work.rows, tree_[work.node]) || work.depth >= kMaxCubeDepth ||
        stop_.stop_requested()) {
      continue;
    }
    const std::size_t middle = SplitNode(work.node, work.rows);
    if (middle == 0) continue;
    const std::size_t left = tree_[work.node].left;
    stack.push_back({left + 1, work.rows.subspan(middle), work.depth + 1});
    stack.push_back({left, work.rows.first(middle), work.depth + 1});
  }
  return std::move(tree_);
}

}  // namespace frostline::importance
