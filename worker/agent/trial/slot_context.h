// SPDX-License-Identifier: Apache-2.0
//
// File: slot_context.h
//
// Agent owns what its slots share, which outlives every slot.
#ifndef FROSTLINE_WORKER_AGENT_TRIAL_SLOT_CONTEXT_H_
#define FROSTLINE_WORKER_AGENT_TRIAL_SLOT_CONTEXT_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mutex.h"
#include "spans/span.h"
#include "worker/agent/link/deliverer.h"
#include "worker/agent/link/lease_keeper.h"
#include "worker/agent/link/rpc_client.h"
#include "worker/agent/options.h"
#include "worker/agent/trial/trial_folders.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// How urgently the agent has to end. The level only rises. The first exit code
// counts, except that a later level replaces the exit code of kDone.
enum class StopLevel {
  kRun,
  kDone,     // no new trials; what runs may finish
  kRelease,  // checkpoint, hand back, end
  kNow,      // hand back without waiting for checkpoints
};

// Tells the agent and its slots to end. It is thread-safe.
class StopSwitch {
 public:
  // Raises the level, or leaves it if it is higher. `why` goes into the log and
  // the detail of releases.
  void Raise(StopLevel level, ExitCode exit_code, const std::string& why);
  StopLevel level() const;
  ExitCode exit_code() const;
  std::string why() const;

  // Rings `wakeup` at every Raise(), until Forget().
  void Notify(Wakeup* wakeup);
  void Forget(Wakeup* wakeup);

 private:
  mutable Mutex mutex_;
  StopLevel level_ ABSL_GUARDED_BY(mutex_) = StopLevel::kRun;
  ExitCode exit_code_ ABSL_GUARDED_BY(mutex_) = kExitOk;
  std::string why_ ABSL_GUARDED_BY(mutex_);
  std::vector<Wakeup*> wakeups_ ABSL_GUARDED_BY(mutex_);
};

// What all slots of an agent share. Everything in it outlives the slots, and
// their threads may call the functions.
struct SlotContext {
  const AgentOptions& options;
  const Clock& clock;
  RpcClient& client;
  RunFolder& run_folder;
  FolderCleaner& folder_cleaner;
  LeaseKeeper& keeper;
  Deliverer& deliverer;
  StopSwitch& stop;
  spans::SpanSink* const spans;  // null: nobody wants any
  const std::string worker_name;
  const std::string host;
  const std::string boot_id;
  std::function<void(SteadyTime refused_call)> register_again;
  // Looks at the registry's files again. Returns false if they lack what the
  // trial needs; then the coordinator has been told, unless it is away.
  std::function<bool(const v1::TrialSpec&)> has_stock_for;
  // Takes the precisions in which a trainer can compute; the coordinator is
  // told.
  std::function<void(const std::vector<std::string>&)> note_precisions;
  // Returns a number that rises when the registry's files say something else.
  std::function<int()> registry_generation;
  // A slot calls these: it asks for no trials; it asks again; it never will.
  std::function<void()> slot_held_up;
  std::function<void()> slot_freed;
  std::function<void()> slot_retired;
  // The coordinator takes outcomes of every evaluation set.
  bool takes_evaluations = false;
  // The coordinator takes the audit of a trial's freezing.
  bool takes_audit = false;
  // --idle-timeout asks how many slots have a trial, and since when none has.
  std::atomic<int> busy{0};
  std::atomic<SteadyTime::rep> idle_since{0};
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_TRIAL_SLOT_CONTEXT_H_
