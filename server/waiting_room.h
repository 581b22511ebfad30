// SPDX-License-Identifier: Apache-2.0
//
// File: waiting_room.h
//
// Calls that wait: parked Acquires, and watchers of a study. First come, first
// served. Nobody leaves without being handed to the caller, so that every call
// is answered.
#ifndef FROSTLINE_SERVER_WAITING_ROOM_H_
#define FROSTLINE_SERVER_WAITING_ROOM_H_

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace frostline {

// T has `SteadyTime deadline` and `CancelFlag cancelled`. Not thread-safe.
template <typename T>
class WaitingRoom {
 public:
  void Enter(T waiter) { waiters_.push_back(std::move(waiter)); }

  // Calls `serve` for each, first come first; who it answers true for leaves.
  template <typename Serve>
  void Offer(Serve serve) {
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
      waiter = serve(*waiter) ? waiters_.erase(waiter) : std::next(waiter);
    }
  }

  // Takes out those whose time is over, and those who have hung up.
  std::list<T> TakeDue(SteadyTime now) {
    std::list<T> due;
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
      const auto next = std::next(waiter);
      const bool gone = waiter->cancelled != nullptr && *waiter->cancelled;
      if (gone || waiter->deadline <= now)
        due.splice(due.end(), waiters_, waiter);
      waiter = next;
    }
    return due;
  }

  std::list<T> TakeAll() { return std::exchange(waiters_, {}); }

  std::optional<SteadyTime> NextDue() const {
    std::optional<SteadyTime> next;
    for (const T& waiter : waiters_) {
      next = std::min(next.value_or(waiter.deadline), waiter.deadline);
    }
    return next;
  }

  std::size_t size() const { return waiters_.size(); }

 private:
  std::list<T> waiters_;
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_WAITING_ROOM_H_
