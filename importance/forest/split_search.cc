// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/split_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace frostline::importance {
namespace {

// A score's whole numbers are below 2^kBits: two products of a sum and a
// weight.
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

}  // namespace frostline::importance
