// SPDX-License-Identifier: Apache-2.0
//
// File: lease_keeper.h
//
// Keeps all leases alive with one heartbeat. Its thread waits for nothing else,
// so no training, disk or child process makes a heartbeat late. A log that
// somebody wants is sent with a heartbeat at once. A coordinator of an earlier
// version asks for logs in its answers; it gets them half a second later.
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

// Whether a lease is still ours. A worker counts the TTL from when it SENT the
// request that was answered, on a clock that also runs during suspend: the
// coordinator cannot have begun to count before. After 90 % of the TTL the
// lease is an orphan, as it may be somebody else's. Training goes on, since two
// attempts do no harm, but not without limit.
enum class LeaseHealth {
  kHeld,
  kOrphan,
  kForsaken,  // an orphan beyond the limit: checkpoint, wait
};

// Judges the health of a lease by when it was last renewed.
class RenewalWatch {
 public:
  // The request that brought the lease was sent at `sent`. A `ttl` or an
  // `orphan_limit` of zero means that there is none.
  RenewalWatch(Duration ttl, Duration orphan_limit, SteadyTime sent)
      : orphan_after_(ttl / 10 * 9), limit_(orphan_limit), renewed_(sent) {}

  // A heartbeat that was sent at `sent` has been answered.
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

// Counts how many steps a second a trainer took over the last minute. It keeps
// one report a second, however many come. A trainer whose steps take longer
// than a minute is judged by its last two.
class StepRate {
 public:
  void Note(std::int64_t step, SteadyTime now);
  // Returns steps a second. It is 0 in the first second of training, and falls
  // when no step has come for a minute.
  double At(SteadyTime now) const;

 private:
  // A step and when it was reported.
  struct Noted {
    std::int64_t step = 0;
    SteadyTime time{};
  };

  std::deque<Noted> noted_;  // by time, a second apart except for the last
};

// A lease of this worker. The slot notes how far the trial is; the heartbeat
// thread and the deliverer note what the coordinator wants. It is thread-safe,
// and holds its lock for nothing slow.
class HeldLease {
 public:
  // `watch` counts from the request that brought the lease. `wakeup` rings when
  // there is an order; it and `log` outlive this. `slot` is the number of the
  // slot that runs the trial.
  HeldLease(const v1::Lease& lease, const RenewalWatch& watch,
            const Clock& clock, Wakeup& wakeup, LogTail& log, int slot = 0);

  const v1::LeaseRef& proof() const { return proof_; }
  Duration heartbeat_interval() const { return heartbeat_interval_; }

  void NoteStep(std::int64_t step, std::int64_t total_steps);
  // Replaces the progress that was noted before.
  void NoteProgress(const ProgressMessage& progress);
  // Returns what the next heartbeat says about this lease, with the end of the
  // log (up to 64 KiB) when somebody wants it and `tail_fits`.
  v1::LeaseProgress Progress(bool tail_fits);
  // Somebody wants the log, within `pause`.
  void WantLog(Duration pause = Duration::zero());
  // Somebody wants what the log has after its first `bytes`. `bell` rings when
  // there is some; it outlives the log.
  void WantLogAfter(std::int64_t bytes, Wakeup* bell);
  // Returns when the log is to be sent; nothing when nobody waits for it or
  // whoever waits has all of it. Whoever follows a growing log gets a piece
  // every half second.
  std::optional<SteadyTime> LogDue() const;
  void ForgetFollowers();

  // A heartbeat that was sent at `sent` has been answered.
  void Renewed(SteadyTime sent);
  // Looks at the lease's health: logs a change, and rings when it is forsaken.
  void Judge();
  bool forsaken() const;

  // Keeps the gravest directive so far, and ignores those for other attempts.
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
  // How many bytes of the log its followers have: the one who has the least,
  // and the one who has the most.
  struct Followed {
    std::int64_t least = 0;
    std::int64_t most = 0;
    Wakeup* bell = nullptr;
  };
  std::optional<Followed> followed_ ABSL_GUARDED_BY(mutex_);
  std::optional<SteadyTime> sent_log_ ABSL_GUARDED_BY(mutex_);
};

// The heartbeat thread, with the leases that it keeps alive.
class LeaseKeeper {
 public:
  // What the keeper calls, and what the coordinator can take. The heartbeat
  // thread calls `heard`, `unknown` and `load`, whoever calls Hold() `holds`.
  struct Hooks {
    std::function<void()> heard;
    // The coordinator answered WORKER_UNKNOWN to a call sent at this time:
    // register again.
    std::function<void(SteadyTime)> unknown;
    // A lease has come, so there is something to listen for.
    std::function<void()> holds = nullptr;
    // Returns how busy the node is; null for a coordinator that does not take
    // it. It does not block.
    std::function<std::optional<v1::NodeLoad>()> load = nullptr;
    // The coordinator takes the progress of trials.
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

  // Adds a lease. Beats at once if the lease `hurries` or has a shorter
  // interval than all others.
  void Hold(std::shared_ptr<HeldLease> lease, bool hurries);
  void LetGo(const std::shared_ptr<HeldLease>& lease);
  bool HoldsAny() const;
  // Takes a directive that came with the reply to another call.
  void Obey(const v1::Directive& directive);
  // Takes what the coordinator answered to Listen.
  void NoteWishes(const v1::ListenReply& reply);
  // Listen failed: from now on the answers to heartbeats say who wants a log.
  void NoteListenFailed();

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
  // Waits until the next beat or a log is due, or somebody rings.
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
  // The thread alone uses these three.
  std::int64_t sequence_ = 0;
  // False once a coordinator has refused it.
  bool tells_load_ = true;
  bool tells_progress_;

  mutable Mutex mutex_;
  Leases leases_ ABSL_GUARDED_BY(mutex_);
  Duration interval_ ABSL_GUARDED_BY(mutex_){};
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool hurries_ ABSL_GUARDED_BY(mutex_) = false;
  // Wishes for logs come by Listen, so those in heartbeats' answers are
  // ignored.
  bool is_listening_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LINK_LEASE_KEEPER_H_
