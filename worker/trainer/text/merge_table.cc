// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/text/merge_table.h"

#include <algorithm>
#include <utility>

namespace frostline::trainer {

std::optional<MergeTable> MergeTable::Make(std::vector<Merge> merges,
                                           std::size_t vocabulary_size) {
  const auto pair = [](const Merge& m) { return std::pair(m.left, m.right); };
  std::sort(merges.begin(), merges.end(),
            [&](const Merge& a, const Merge& b) { return pair(a) < pair(b); });
  const auto twice = std::adjacent_find(
      merges.begin(), merges.end(),
      [&](const Merge& a, const Merge& b) { return pair(a) == pair(b); });
  if (twice != merges.end()) return std::nullopt;
  MergeTable table;
  table.first_.resize(vocabulary_size + 1, merges.size());
  std::size_t next = 0;
  for (std::size_t left = 0; left < vocabulary_size; ++left) {
    while (next < merges.size() &&
           static_cast<std::size_t>(merges[next].left) < left) {
      ++next;
    }
    table.first_[left] = next;
  }
  table.merges_ = std::move(merges);
  return table;
}

}  // namespace frostline::trainer
