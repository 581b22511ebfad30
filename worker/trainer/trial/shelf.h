// SPDX-License-Identifier: Apache-2.0
//
// File: shelf.h
//
// Keeps what may be of use again: what was used longest ago goes when there are
// too many. Who holds a thing keeps it alive. One thread uses it.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_SHELF_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_SHELF_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace frostline::trainer {

template <typename Key, typename Value>
class Shelf {
 public:
  using Held = std::shared_ptr<const Value>;

  explicit Shelf(std::size_t most) : most_(most) {}

  // Returns null when absent.
  Held Find(const Key& key) {
    const auto at = std::ranges::find(entries_, key, &Entry::first);
    if (at == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), at, at + 1);
    return entries_.front().second;
  }

  Held Put(const Key& key, Value value) {
    if (entries_.size() >= most_) entries_.pop_back();
    entries_.insert(entries_.begin(),
                    {key, std::make_shared<const Value>(std::move(value))});
    return entries_.front().second;
  }

 private:
  using Entry = std::pair<Key, Held>;

  std::size_t most_;
  std::vector<Entry> entries_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_SHELF_H_
