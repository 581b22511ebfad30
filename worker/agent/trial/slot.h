// SPDX-License-Identifier: Apache-2.0
//
// File: slot.h
//
// Runs one trial at a time, and asks for the next when an ending is delivered.
// Its trainer stays alive in between. It asks no more while something of a
// trainer cannot be killed, which may hold its GPU, and retires when that
// lasts.
#ifndef FROSTLINE_WORKER_AGENT_TRIAL_SLOT_H_
#define FROSTLINE_WORKER_AGENT_TRIAL_SLOT_H_

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/rng.h"
#include "frostline/v1/worker.pb.h"
#include "spans/span.h"
#include "worker/agent/slot_trainer.h"
#include "worker/agent/trial/slot_context.h"
#include "worker/agent/trial/trial_run.h"

namespace frostline::agent {

// An attempt as its worker sees it, one phase after the other, each a span of
// the attempt's trace (spans/span.h):
//
//   phases.Begin("train");     // what came before has ended
//
// It is not thread-safe.
class AttemptPhases {
 public:
  // `sink` may be null: then nothing is done. It and `clock` outlive this.
  AttemptPhases(const v1::LeaseRef& lease, spans::SpanSink* sink,
                const Clock& clock);
  // Ends the last one.
  ~AttemptPhases();
  AttemptPhases(const AttemptPhases&) = delete;
  AttemptPhases& operator=(const AttemptPhases&) = delete;

  void Begin(const std::string& name);
  // What is under way has failed, for this cause.
  void Fail(const std::string& cause) { phase_.error = cause; }

 private:
  void End();

  spans::SpanSink* const sink_;
  const Clock& clock_;
  const TraceContext attempt_;
  const std::string trial_;
  spans::Span phase_;  // without a name: none
};

class Slot {
 public:
  Slot(SlotContext& context, int number, SlotEnvironment environment);
  ~Slot();  // waits for the thread
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;

  void Start();
  void Join();

 private:
  void Loop();
  std::optional<v1::Lease> NextLease();
  // Asks again for what a call given up at the end may have been granted, and
  // hands it back.
  void TakeBack(v1::AcquireRequest request);
  // Nothing says to ask again, with the same request id if `keep_id`.
  std::optional<v1::Lease> Ask(const v1::AcquireRequest& request,
                               bool* keep_id);
  void ConsiderNone(const v1::AcquireReply& reply);
  void ConsiderError(const absl::Status& status, SteadyTime sent,
                     bool* keep_id);
  Duration LongestWait() const;
  bool EndIfIdle();

  void RunTrial(const v1::Lease& lease);
  void RunOnTrainer(const v1::Lease& lease, TrialRun& run,
                    AttemptPhases& phases);
  std::shared_ptr<Outbox> OpenOutbox(const v1::LeaseRef& lease);
  // Returns its path, empty where none can be used, which is logged; an error
  // where the site's hook failed and may succeed for another attempt.
  absl::StatusOr<std::string> FindCheckpoint(const v1::Lease& lease);
  absl::Status FetchCheckpoint(const v1::Lease& lease);
  void AwaitDelivery(const Outbox& outbox);
  void Tidy(const TrialRun& run, const Outbox& outbox);
  void HandBack(const v1::Lease& lease);

  SlotContext& context_;
  const int number_;
  SteadyTime acquire_sent_{};
  Rng rng_;
  Backoff pause_;
  Backoff start_pause_;
  Wakeup wakeup_;
  LogTail log_;
  v1::NoneReason last_reason_ = v1::NONE_REASON_UNSPECIFIED;
  SlotTrainer trainer_;
  bool retired_ = false;
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_SLOT_H_
