// SPDX-License-Identifier: Apache-2.0
#include "importance/cube/cube_grower.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace frostline::importance {
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
