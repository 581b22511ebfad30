// SPDX-License-Identifier: Apache-2.0
//
// File: held_lease.h
//
// The slot says how far it is with a lease, heartbeat thread and courier what
// the coordinator wants. It is thread-safe, and never locked while anything
// slow happens.
#ifndef FROSTLINE_WORKER_AGENT_HELD_LEASE_H_
#define FROSTLINE_WORKER_AGENT_HELD_LEASE_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "worker/agent/log_tail.h"
#include "worker/agent/protocol.h"
#include "worker/agent/renewal_watch.h"
#include "worker/agent/step_rate.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

class HeldLease {
 public:
  // `watch` counts from the request that brought the lease. `wakeup` rings when
  // there is something to obey; it and `log` outlive this. `slot` runs it.
  HeldLease(const v1::Lease& lease, const RenewalWatch& watch,
            const Clock& clock, Wakeup& wakeup, LogTail& log, int slot = 0);

  const v1::LeaseRef& proof() const { return proof_; }
  Duration heartbeat_interval() const { return heartbeat_interval_; }

  void NoteStep(std::int64_t step, std::int64_t total_steps);
  // Replaces what was said of it before.
  void NoteProgress(const ProgressMessage& progress);
  // Holds the log's tail (up to 64 KiB) where somebody wants it and
  // `tail_fits`.
  v1::LeaseProgress Progress(bool tail_fits);
  // Somebody wants the log as it is, at the latest after `pause`.
  void WantLog(Duration pause = Duration::zero());
  // Somebody wants what comes after so many bytes. `bell` rings when there is
  // some; it outlives the log.
  void WantLogAfter(std::int64_t bytes, Wakeup* bell);
  // Says when the log is to be sent; nothing while nobody waits for it, or
  // those who do have all there is. Who follows a log that grows without end
  // gets a piece each half second.
  std::optional<SteadyTime> LogDue() const;
  void ForgetFollowers();

  // A heartbeat sent then was answered.
  void Renewed(SteadyTime sent);
  // Logs when its health changes, and rings when it is forsaken.
  void Judge();
  bool forsaken() const;

  // Keeps the gravest directive and ignores those to other attempts.
  void Obey(const v1::Directive& directive);
  v1::Directive directive() const;

 private:
  v1::TrialProgress HowFar() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  Wakeup& wakeup_;
  LogTail& log_;
  v1::LeaseRef proof_;
  Duration heartbeat_interval_;
  const int slot_;

  mutable Mutex mutex_;
  RenewalWatch watch_ ABSL_GUARDED_BY(mutex_);
  LeaseHealth health_ ABSL_GUARDED_BY(mutex_) = LeaseHealth::kHeld;
  bool forsaken_ ABSL_GUARDED_BY(mutex_) = false;
  v1::Directive directive_ ABSL_GUARDED_BY(mutex_);
  std::int64_t step_ ABSL_GUARDED_BY(mutex_) = 0;
  std::int64_t total_steps_ ABSL_GUARDED_BY(mutex_) = 0;
  SteadyTime step_time_ ABSL_GUARDED_BY(mutex_);
  StepRate rate_ ABSL_GUARDED_BY(mutex_);
  ProgressMessage said_ ABSL_GUARDED_BY(mutex_);
  SteadyTime said_time_ ABSL_GUARDED_BY(mutex_);
  std::optional<SteadyTime> want_log_by_ ABSL_GUARDED_BY(mutex_);
  // Who follows has read so many bytes: the first of them, and the last.
  struct Followed {
    std::int64_t least = 0;
    std::int64_t most = 0;
    Wakeup* bell = nullptr;
  };
  std::optional<Followed> followed_ ABSL_GUARDED_BY(mutex_);
  std::optional<SteadyTime> sent_log_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_HELD_LEASE_H_
