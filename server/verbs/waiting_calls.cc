// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/waiting_calls.h"

#include <vector>

#include "server/auth/gate.h"

namespace frostline::server {

void WaitingCalls::EndRevoked() {
  std::vector<Waiting> revoked;
  {
    const MutexLock lock(&mutex_);
    for (auto one = waiting_.begin(); one != waiting_.end();) {
      if (!one->second.who.is_revoked()) {
        ++one;
        continue;
      }
      revoked.push_back(std::move(one->second));
      one = waiting_.erase(one);
    }
  }
  for (Waiting& one : revoked) one.end(CheckHolds(one.who));
}

std::uint64_t WaitingCalls::Add(
    const CallerIdentity& who,
    absl::AnyInvocable<void(const absl::Status&)> end) {
  const MutexLock lock(&mutex_);
  waiting_.emplace(++last_, Waiting{who, std::move(end)});
  return last_;
}

void WaitingCalls::Remove(std::uint64_t number) {
  const MutexLock lock(&mutex_);
  waiting_.erase(number);
}

}  // namespace frostline::server
