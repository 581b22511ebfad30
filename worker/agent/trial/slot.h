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

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/rng.h"
#include "frostline/v1/worker.pb.h"
#include "spans/span.h"
#include "worker/agent/options.h"
#include "worker/agent/process/log_tail.h"
#include "worker/agent/process/trainer_process.h"
#include "worker/agent/trial/slot_context.h"
#include "worker/agent/trial/trial_run.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// The trainer of a slot, which lives from trial to trial: it is started when it
// is needed, renewed when the registry's files say something else, and awaited
// when not even SIGKILL ends it. All calls come from the slot's thread.

// Decides which GPU each slot's trainer sees and how many threads it may start.

// Each "KEY=VALUE" replaces the agent's own.
using SlotEnvironment = std::vector<std::string>;

// It comes with the driver: into an image by NVIDIA's container toolkit.
inline constexpr char kCudaDriver[] = "libcuda.so.1";

using LookUp = std::function<const char*(const char*)>;

// Returns one entry for each slot:
//   - a single slot without `--slots gpu` has the node to itself;
//   - otherwise each slot sees one GPU, in turn, where there are any, and each
//     GPU has at most --slots-per-gpu slots;
//   - without GPUs CUDA_VISIBLE_DEVICES stays as it is;
//   - two and more slots share the cores, unless OMP_NUM_THREADS is set;
//   - threads that wait soon sleep, unless the environment says how they wait.
// It returns REQUEST_INVALID at --slots when it cannot be: so it is, too, when
// `--slots gpu` finds GPUs that frostline-trainer could not use, as no driver
// is here. With a number of slots that is a warning, and the processor trains.
absl::StatusOr<std::vector<SlotEnvironment>> PlanSlots(
    const AgentOptions& options, const v1::Hardware& hardware,
    const LookUp& look_up, const std::string& driver = kCudaDriver);

// The trainer of one slot.
class SlotTrainer {
 public:
  // Borrows all but `environment`.
  SlotTrainer(SlotContext& context, int slot, SlotEnvironment environment,
              Wakeup& wakeup, LogTail& log);

  // Starts one where none lives, or the one that does has read an old registry.
  absl::Status Ensure();
  // REQUIRES: Ensure() was OK, and no Drop() came after it.
  TrainerProcess& process() { return *process_; }
  int started() const { return started_; }  // so far
  // Kills what still runs; one that is unkillable stays.
  void Drop();
  // Something of it cannot be killed, and may hold its GPU.
  bool IsHeldUp() const;
  // The error of who would start another one meanwhile.
  static absl::Status LivesOn();
  // Waits for a late end while the agent runs. False: it did not come in time,
  // which is logged.
  bool AwaitLateEnd();
  // Asks it to exit, waits a moment, then kills it.
  void End();

 private:
  absl::Status Start();
  std::string PrefixFolder() const;
  absl::Status Renew();
  // Waits for it, a moment.
  void AskToExit();

  SlotContext& context_;
  const int slot_;
  const SlotEnvironment environment_;
  Wakeup& wakeup_;
  LogTail& log_;
  std::unique_ptr<TrainerProcess> process_;
  int started_ = 0;
  int generation_ = 0;  // of the registry that it has read
};

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

// One slot of a worker.
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
