// SPDX-License-Identifier: Apache-2.0
//
// File: renewal_watch.h
//
// A worker counts from when it SENT what was answered, on a clock that counts
// suspend: the coordinator cannot have begun before. At 90 % of the TTL the
// lease may be somebody else's: an orphan. Training goes on, as an overlap does
// no harm, but not without end.
#ifndef FROSTLINE_WORKER_AGENT_RENEWAL_WATCH_H_
#define FROSTLINE_WORKER_AGENT_RENEWAL_WATCH_H_

#include "base/clock.h"

namespace frostline::agent {

enum class LeaseHealth {
  kHeld,
  kOrphan,
  kForsaken,  // an orphan beyond the limit: checkpoint, wait
};

class RenewalWatch {
 public:
  // The request that brought the lease was `sent` then. Zero means no TTL, or
  // no limit.
  RenewalWatch(Duration ttl, Duration orphan_limit, SteadyTime sent)
      : orphan_after_(ttl / 10 * 9), limit_(orphan_limit), renewed_(sent) {}

  // A heartbeat sent then was answered.
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
