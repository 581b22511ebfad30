// SPDX-License-Identifier: Apache-2.0
//
// File: lease_keeper.h
//
// Keeps all leases alive with one heartbeat, from a thread that waits for
// nothing else: no training, disk or child makes it late. A log that somebody
// wants rides on a heartbeat sent at once. A coordinator of an earlier version
// asks for logs with its answers; there it follows half a second later.
#ifndef FROSTLINE_WORKER_AGENT_LINK_LEASE_KEEPER_H_
#define FROSTLINE_WORKER_AGENT_LINK_LEASE_KEEPER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "frostline/v1/worker.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "worker/agent/link/rpc_client.h"
#include "worker/agent/process/log_tail.h"
#include "worker/agent/process/protocol.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// A worker counts from when it SENT what was answered, on a clock that counts
// suspend: the coordinator cannot have begun before. At 90 % of the TTL the
// lease may be somebody else's: an orphan. Training goes on, as an overlap does
// no harm, but not without end.

enum class LeaseHealth {
  kHeld,
  kOrphan,
  kForsaken,  // an orphan beyond the limit: checkpoint, wait
};

// Judges the health of a lease by when it was last renewed.
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

// How many steps a second a trainer has taken over the last minute, from what
// it reported: of thousands of reports a second one is kept. Trainers with
// steps that take longer are judged by their last two.
class StepRate {
 public:
  void Note(std::int64_t step, SteadyTime now);
  // Answers 0 before a second of training, and less and less after a minute in
  // which no step came.
  double At(SteadyTime now) const;

 private:
  struct Noted {
    std::int64_t step = 0;
    SteadyTime time{};
  };

  std::deque<Noted> noted_;  // by time; but for the last, a second apart
};

// One lease of this worker. The slot says how far it is with it; heartbeat
// thread and courier say what the coordinator wants. It is thread-safe, and
// never locked while anything slow happens.
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

// The heartbeat thread, and the leases that it keeps alive.
class LeaseKeeper {
 public:
  struct Hooks {
    std::function<void()> heard;
    // WORKER_UNKNOWN answered a call sent then: register again.
    std::function<void(SteadyTime)> unknown;
    // There is a lease to listen for.
    std::function<void()> holds = nullptr;
    // What the node does, for a coordinator that takes it; it does not block.
    std::function<std::optional<v1::NodeLoad>()> load = nullptr;
    // The coordinator takes how far trials are.
    bool tells_progress = false;
  };

  LeaseKeeper(RpcClient& client, const Clock& clock, std::string worker_name,
              std::string boot_id, Hooks hooks);
  ~LeaseKeeper();  // stops
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  // `interval` is what Register answered.
  void Start(Duration interval);
  void Stop();

  // Beats at once if it `hurries` or has a shorter interval than all others.
  void Hold(std::shared_ptr<HeldLease> lease, bool hurries);
  void LetGo(const std::shared_ptr<HeldLease>& lease);
  bool HoldsAny() const;
  // Takes directives that ride on other replies.
  void Obey(const v1::Directive& directive);
  // Takes what the coordinator answered to who listens, or that it does not.
  void NoteWishes(const v1::ListenReply& reply);
  void NoteDeafness();

 private:
  void Loop();
  bool Beat();
  bool TellLess(v1::HeartbeatRequest& request);
  absl::StatusOr<v1::HeartbeatReply> Tell(v1::HeartbeatRequest& request);
  using Leases = std::vector<std::shared_ptr<HeldLease>>;
  v1::HeartbeatRequest NextBeat(const Leases& leases, Leases* tails);
  void NoteAnswer(const v1::HeartbeatReply& reply, const Leases& leases,
                  SteadyTime sent);
  Duration Interval() const;
  Duration UntilNext(bool heard, Backoff& backoff);
  // Waits for the next beat: until then, until a log is due, or until told.
  void Rest(bool heard, Duration until_next);
  std::optional<SteadyTime> NextLogDue() const;
  Leases Held() const;

  RpcClient& client_;
  const Clock& clock_;
  const std::string worker_name_;
  const std::string boot_id_;
  const Hooks hooks_;
  Rng rng_;
  Wakeup wakeup_;
  std::thread thread_;
  std::int64_t sequence_ = 0;  // the thread's alone, as the next one is
  // Until a coordinator does not take it.
  bool tells_load_ = true;
  bool tells_progress_;

  mutable Mutex mutex_;
  Leases leases_ ABSL_GUARDED_BY(mutex_);
  Duration interval_ ABSL_GUARDED_BY(mutex_){};
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool hurries_ ABSL_GUARDED_BY(mutex_) = false;
  // Wishes come by Listen; those of heartbeats' answers are the same.
  bool is_listening_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LINK_LEASE_KEEPER_H_
