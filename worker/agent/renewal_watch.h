// SPDX-License-Identifier: Apache-2.0
//
// File: renewal_watch.h
//
// What a worker may believe of its own lease. It counts from when it SENT what
// was answered, on a clock that counts suspend: the coordinator's own count
// cannot have begun before. At 90 % of the TTL the lease is an orphan: it may
// be somebody else's by now. Training goes on all the same, as an overlap does
// no harm, but not without end.
#ifndef FROSTLINE_WORKER_AGENT_RENEWAL_WATCH_H_
#define FROSTLINE_WORKER_AGENT_RENEWAL_WATCH_H_

#include "base/clock.h"

namespace frostline::agent {

enum class LeaseHealth {
  kHeld,
  kOrphan,
  kForsaken,  // an orphan for longer than the limit: checkpoint and wait
};

class RenewalWatch {
 public:
  // `sent`: the request that was answered with the lease. A TTL of zero is
  // none, and so is a limit of zero.
  RenewalWatch(Duration ttl, Duration orphan_limit, SteadyTime sent)
      : orphan_after_(ttl / 10 * 9), limit_(orphan_limit), renewed_(sent) {}

  // A heartbeat that was sent then has been answered.
  void Renewed(SteadyTime sent) {
    if (sent > renewed_) renewed_ = sent;
  }

  LeaseHealth At(SteadyTime now) const {
    const Duration silence = now - renewed_;
    if (orphan_after_ <= Duration::zero() || silence < orphan_after_) {
      return LeaseHealth::kHeld;
    }
    const bool forsaken =
        limit_ > Duration::zero() && silence - orphan_after_ >= limit_;
    return forsaken ? LeaseHealth::kForsaken : LeaseHealth::kOrphan;
  }

 private:
  const Duration orphan_after_;
  const Duration limit_;
  SteadyTime renewed_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_RENEWAL_WATCH_H_
