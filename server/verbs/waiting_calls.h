// SPDX-License-Identifier: Apache-2.0
//
// File: waiting_calls.h
//
// The calls that wait for something to happen, and who waits. When a caller's
// credential is revoked, its calls are answered at once with that reason,
// wherever they are parked: the caller learns nothing more.
#ifndef FROSTLINE_SERVER_VERBS_WAITING_CALLS_H_
#define FROSTLINE_SERVER_VERBS_WAITING_CALLS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "server/loop/call_context.h"

namespace frostline::server {

// Any thread may call. It outlives the replies that it guards.
class WaitingCalls {
 public:
  // Returns a reply that takes the first of two answers: its own, or
  // EndRevoked()'s.
  template <typename T>
  Reply<T> Guard(const CallerIdentity& who, Reply<T> reply) {
    if (who.revoked == nullptr) return reply;  // it cannot be revoked
    struct Once {
      std::atomic<bool> is_answered = false;
      Reply<T> reply;
    };
    auto once = std::make_shared<Once>();
    once->reply = std::move(reply);
    const std::uint64_t number = Add(who, [once](const absl::Status& why) {
      if (!once->is_answered.exchange(true)) once->reply(why);
    });
    return [this, number, once](absl::StatusOr<T> answer) {
      Remove(number);
      if (!once->is_answered.exchange(true)) once->reply(std::move(answer));
    };
  }

  // Answers the calls whose caller's credentials were revoked.
  void EndRevoked();

 private:
  struct Waiting {
    CallerIdentity who;
    absl::AnyInvocable<void(const absl::Status&)> end;
  };

  std::uint64_t Add(const CallerIdentity& who,
                    absl::AnyInvocable<void(const absl::Status&)> end);
  void Remove(std::uint64_t number);

  Mutex mutex_;
  std::uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_WAITING_CALLS_H_
