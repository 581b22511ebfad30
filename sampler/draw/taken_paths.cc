// SPDX-License-Identifier: Apache-2.0
#include "sampler/draw/taken_paths.h"

#include <algorithm>

namespace frostline::sampler {
namespace {

bool ComesBefore(const Path* a, const Path* b) { return *a < *b; }

}  // namespace

void TakenPaths::Put(std::size_t i, const Path& path) {
  if (i >= of_trial_.size()) of_trial_.resize(i + 1, nullptr);
  Leaf* const old = of_trial_[i];
  of_trial_[i] = nullptr;
  if (!path.empty()) {
    const auto [leaf, is_new] = taken_.try_emplace(path, 0);
    ++leaf->second;
    of_trial_[i] = &*leaf;
    if (is_new) {
      const Path* const key = &leaf->first;
      sorted_.insert(
          std::lower_bound(sorted_.begin(), sorted_.end(), key, ComesBefore),
          key);
    }
  }
  if (old != nullptr) Release(old);
}

void TakenPaths::Release(Leaf* leaf) {
  if (--leaf->second > 0) return;
  sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), &leaf->first,
                                 ComesBefore));
  taken_.erase(taken_.find(leaf->first));
}

Path TakenPaths::LeafOf(std::size_t i) const {
  if (i >= of_trial_.size() || of_trial_[i] == nullptr) return {};
  return of_trial_[i]->first;
}

TakenPaths::Range TakenPaths::Below(Range range, std::size_t layer,
                                    std::int32_t branch) const {
  const auto begin = std::partition_point(
      range.begin(), range.end(),
      [&](const Path* path) { return (*path)[layer] < branch; });
  Range rest = range.subspan(static_cast<std::size_t>(begin - range.begin()));
  return SplitFront(rest, layer, branch);
}

TakenPaths::Range TakenPaths::SplitFront(Range& range, std::size_t layer,
                                         std::int32_t branch) const {
  if (range.empty() || (*range.front())[layer] != branch) return {};
  const auto end = std::partition_point(
      range.begin(), range.end(),
      [&](const Path* path) { return (*path)[layer] <= branch; });
  const auto count = static_cast<std::size_t>(end - range.begin());
  const Range front = range.first(count);
  range = range.subspan(count);
  return front;
}

}  // namespace frostline::sampler
