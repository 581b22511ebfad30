// SPDX-License-Identifier: Apache-2.0
//
// File: waiting_room.h
//
// Nobody leaves without being handed to the caller, so that every call is
// answered. Ten thousand may wait: no call goes through all of them but
// TakeAll().
#ifndef FROSTLINE_SERVER_DISPATCH_WAITING_ROOM_H_
#define FROSTLINE_SERVER_DISPATCH_WAITING_ROOM_H_

#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/clock.h"

namespace frostline::server {

// T has `SteadyTime deadline` and a `Key()` that several may share; neither
// changes while it waits. The room is not thread-safe.
template <typename T>
class WaitingRoom {
 public:
  void Enter(T waiter) {
    waiters_.push_back(Entry{std::move(waiter), {}});
    const Place place = std::prev(waiters_.end());
    place->due = due_.emplace(place->waiter.deadline, place);
    by_key_.emplace(place->waiter.Key(), place);
  }

  // Takes those with this key for which `leaves` holds.
  template <typename Key, typename Leaves>
  std::list<T> Take(const Key& key, Leaves leaves) {
    std::list<T> taken;
    const auto [begin, end] = by_key_.equal_range(key);
    for (auto found = begin; found != end;) {
      const auto place = (found++)->second;
      if (leaves(place->waiter)) taken.push_back(Remove(place));
    }
    return taken;
  }

  std::list<T> TakeDue(SteadyTime now) {
    std::list<T> due;
    while (!due_.empty() && due_.begin()->first <= now) {
      due.push_back(Remove(due_.begin()->second));
    }
    return due;
  }

  std::list<T> TakeAll() { return TakeDue(SteadyTime::max()); }

  std::optional<SteadyTime> NextDue() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
  }

  template <typename Key>
  bool Has(const Key& key) const {
    return by_key_.find(key) != by_key_.end();
  }
  std::size_t size() const { return waiters_.size(); }

 private:
  struct Entry;
  using Place = typename std::list<Entry>::iterator;
  using KeyOf = std::decay_t<decltype(std::declval<const T&>().Key())>;
  struct Entry {
    T waiter;
    typename std::multimap<SteadyTime, Place>::iterator due;
  };

  T Remove(Place place) {
    due_.erase(place->due);
    auto found = by_key_.find(place->waiter.Key());
    while (found->second != place) ++found;
    by_key_.erase(found);
    T waiter = std::move(place->waiter);
    waiters_.erase(place);
    return waiter;
  }

  std::list<Entry> waiters_;
  std::multimap<SteadyTime, Place> due_;
  std::multimap<KeyOf, Place> by_key_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_WAITING_ROOM_H_
