// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/split_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace frostline {

SplitSearch::SplitSearch(const Dataset& data,
                         const std::vector<double>& targets,
                         const std::vector<std::uint32_t>& weights)
    : data_(data),
      targets_(targets),
      weights_(weights),
      order_(data.axes.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::size_t most = 0;
  for (const BinnedAxis& axis : data.bins) {
    most = std::max(most, axis.lowest.size());
  }
  table_.resize(most);
}

void SplitSearch::Collect(std::size_t axis,
                          std::span<const std::uint32_t> rows) {
  const std::vector<std::uint16_t>& bin_of_row = data_.bins[axis].bin_of_row;
  for (const std::uint32_t row : rows) {
    Bin& bin = table_[bin_of_row[row]];
    const double weight = weights_[row];
    bin.weight += weight;
    bin.sum += weight * targets_[row];
  }
  bins_.clear();
  const std::size_t count = data_.bins[axis].lowest.size();
  // Few rows in many bins: asking the rows is less work than asking the bins.
  const bool sparse = rows.size() * 8 < count;
  for (std::size_t i = 0; i < (sparse ? rows.size() : count); ++i) {
    const std::size_t index = sparse ? bin_of_row[rows[i]] : i;
    if (table_[index].weight == 0.0) continue;
    bins_.push_back({static_cast<std::uint16_t>(index), table_[index].weight,
                     table_[index].sum});
    table_[index] = Bin();
  }
  if (sparse) {
    std::sort(bins_.begin(), bins_.end(),
              [](const Bin& a, const Bin& b) { return a.index < b.index; });
  }
}

int SplitSearch::Scan() {
  double weight = 0.0, sum = 0.0;
  for (const Bin& bin : bins_) {
    weight += bin.weight;
    sum += bin.sum;
  }
  int best = -1;
  double left_weight = 0.0, left_sum = 0.0;
  for (std::size_t i = 0; i + 1 < bins_.size(); ++i) {
    left_weight += bins_[i].weight;
    left_sum += bins_[i].sum;
    const double right_sum = sum - left_sum;
    // Squared error falls by this, but for what does not depend on the split.
    const double score = left_sum * left_sum / left_weight +
                         right_sum * right_sum / (weight - left_weight);
    if (score > best_score_) {
      best_score_ = score;
      best = static_cast<int>(i);
    }
  }
  return best;
}

TreeSplit SplitSearch::MakeSplit(std::size_t axis, std::size_t last) const {
  const BinnedAxis& binned = data_.bins[axis];
  TreeSplit split;
  split.axis = static_cast<int>(axis);
  if (binned.is_ordered) {
    const double below = binned.highest[bins_[last].index];
    const double above = binned.lowest[bins_[last + 1].index];
    split.threshold = below + (above - below) / 2.0;
    // Neighbouring doubles have no middle.
    if (split.threshold >= above) split.threshold = below;
    return split;
  }
  split.goes_left.resize(data_.axes[axis].choice_masses().size(), false);
  for (std::size_t i = 0; i <= last; ++i) {
    const double code = binned.lowest[bins_[i].index];
    split.goes_left[static_cast<std::size_t>(code)] = true;
  }
  return split;
}

TreeSplit SplitSearch::FindBest(std::span<const std::uint32_t> rows, Rng& rng) {
  TreeSplit best;
  best_score_ = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::size_t other =
        i + static_cast<std::size_t>(rng.Below(order_.size() - i));
    std::swap(order_[i], order_[other]);
    const std::size_t axis = order_[i];
    if (data_.bins[axis].lowest.size() < 2) continue;
    Collect(axis, rows);
    if (!data_.bins[axis].is_ordered) {
      std::stable_sort(bins_.begin(), bins_.end(),
                       [](const Bin& a, const Bin& b) {
                         return a.sum / a.weight < b.sum / b.weight;
                       });
    }
    const int last = Scan();
    if (last >= 0) best = MakeSplit(axis, static_cast<std::size_t>(last));
  }
  return best;
}

}  // namespace frostline
