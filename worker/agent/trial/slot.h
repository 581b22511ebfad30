// SPDX-License-Identifier: Apache-2.0
//
// File: slot.h
//
// A slot runs one trial at a time, and asks for the next one when the ending is
// delivered. Its trainer lives from trial to trial. While a process of a
// trainer cannot be killed, which may hold the GPU, the slot asks for no
// trials; if that lasts, it never asks again.
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

// The environment of a slot's trainer. Each "KEY=VALUE" replaces the agent's
// own variable.
using SlotEnvironment = std::vector<std::string>;

// CUDA's library. It comes with the driver; NVIDIA's container toolkit puts it
// into a container.
inline constexpr char kCudaDriver[] = "libcuda.so.1";

using LookUp = std::function<const char*(const char*)>;

// Decides which GPU each slot's trainer sees and how many threads it may start.
// Returns one entry for each slot:
//   - a single slot without `--slots gpu` has the node to itself;
//   - otherwise, if there are GPUs, each slot sees one, in turn, and each GPU
//     has at most --slots-per-gpu slots;
//   - with --gpus-per-slot each slot sees so many, and no two slots the same;
//   - without GPUs CUDA_VISIBLE_DEVICES stays as it is;
//   - two and more slots, and the GPUs of a slot, share the cores, unless
//     OMP_NUM_THREADS is set;
//   - waiting threads soon sleep, unless the environment says how they wait.
// The error is REQUEST_INVALID at --slots or --gpus-per-slot when there can be
// no such slots, also when `--slots gpu` finds GPUs that frostline-trainer
// cannot use, since the driver is missing. With a number of slots that is a
// warning only, and the trainer uses the processor.
absl::StatusOr<std::vector<SlotEnvironment>> PlanSlots(
    const AgentOptions& options, const v1::Hardware& hardware,
    const LookUp& look_up, const std::string& driver = kCudaDriver);

// The trainer of one slot. It is started when it is needed, started again when
// the registry's files say something else, and waited for when SIGKILL does not
// end it. All calls come from the slot's thread.
class SlotTrainer {
 public:
  // `context`, `wakeup` and `log` outlive it.
  SlotTrainer(SlotContext& context, int slot, SlotEnvironment environment,
              Wakeup& wakeup, LogTail& log);

  // Starts a trainer if none runs, or the one that runs has read an old
  // registry.
  absl::Status Ensure();
  // REQUIRES: Ensure() was OK, and no Drop() came after it.
  TrainerProcess& process() { return *process_; }
  int started() const { return started_; }  // how many so far
  // Kills the trainer if it still runs. It stays if it is unkillable.
  void Drop();
  // Says whether a process of the trainer cannot be killed and may hold the
  // GPU.
  bool IsHeldUp() const;
  // Returns the error for a trial that needs another trainer meanwhile.
  static absl::Status LivesOn();
  // Waits, while the agent runs, for the end of an unkillable process. Returns
  // false, and logs it, if it did not end in time.
  bool AwaitLateEnd();
  // Asks the trainer to exit, waits a moment, then kills it. It stays if it is
  // unkillable.
  void End();

 private:
  absl::Status Start();
  std::string PrefixFolder() const;
  absl::Status Renew();
  // Also waits a moment for its end.
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

// The phases of an attempt as its worker sees them, one after the other. Each
// is a span of the attempt's trace (spans/span.h):
//
//   phases.Begin("train");     // ends the phase before
//
// It is not thread-safe.
class AttemptPhases {
 public:
  // `sink` may be null: then this does nothing. It and `clock` outlive this.
  AttemptPhases(const v1::LeaseRef& lease, spans::SpanSink* sink,
                const Clock& clock);
  // Ends the last phase.
  ~AttemptPhases();
  AttemptPhases(const AttemptPhases&) = delete;
  AttemptPhases& operator=(const AttemptPhases&) = delete;

  void Begin(const std::string& name);
  // Marks the phase under way as failed, for this cause.
  void Fail(const std::string& cause) { phase_.error = cause; }

 private:
  void End();

  spans::SpanSink* const sink_;
  const Clock& clock_;
  const TraceContext attempt_;
  const std::string trial_;
  spans::Span phase_;  // without a name: no phase has begun
};

// One slot of a worker, with its thread.
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
  // At the end of the agent a call for a trial may be cancelled although the
  // coordinator has granted one. This repeats the call and hands the trial
  // back.
  void TakeBack(v1::AcquireRequest request);
  // Asks for a trial. If it returns nothing the caller asks again, with the
  // same request id if `keep_id`.
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
  // Returns the path of the checkpoint to resume from. It is empty if there is
  // none, or, which is logged, none that can be used. The error says that the
  // site's hook failed; it may succeed for another attempt.
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
