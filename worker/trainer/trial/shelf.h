// SPDX-License-Identifier: Apache-2.0
//
// File: shelf.h
//
// What was made once and may be of use again: the newest first, and the oldest
// goes when there are too many. Who holds a thing keeps it alive.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_SHELF_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_SHELF_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace frostline {

// For one thread.
template <typename Key, typename Value>
class Shelf {
 public:
  using Held = std::shared_ptr<const Value>;

  // Null when it is not there.
  Held Find(const Key& key) {
    const auto at = std::ranges::find(entries_, key, &Entry::first);
    if (at == entries_.end()) return nullptr;
    std::rotate(entries_.begin(), at, at + 1);
    return entries_.front().second;
  }

  Held Put(const Key& key, Value value) {
    // A node runs one or two studies at a time.
    constexpr std::size_t kMost = 8;
    if (entries_.size() >= kMost) entries_.pop_back();
    entries_.insert(entries_.begin(),
                    {key, std::make_shared<const Value>(std::move(value))});
    return entries_.front().second;
  }

 private:
  using Entry = std::pair<Key, Held>;

  std::vector<Entry> entries_;
};

}  // namespace frostline

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_SHELF_H_
