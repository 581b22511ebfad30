// SPDX-License-Identifier: Apache-2.0
//
// File: agent.h
//
// The agent of a node: it asks the coordinator for trials, runs a trainer in
// each slot and reports. Before it registers it tries to deliver what an
// earlier process left in the spool. When its stock has changed it registers
// again, with the same boot id.
//
//   slot threads ── run trials ──> outboxes ──> deliverer thread ──>
//   coordinator
//        │  └── trainer processes               heartbeat thread ──┘
//        └───── ask for trials (long poll) ─────────────────────────┤
//   listener thread ── hears who wants a log (long poll) ───────────┤
//   stock thread ── looks at the registry ──> registrar thread ─────┤
//   GPU thread ── looks at the GPUs ──> heartbeat thread             │
//   certificate thread ── renews, if the worker has joined ─────────┘
#ifndef FROSTLINE_WORKER_AGENT_AGENT_H_
#define FROSTLINE_WORKER_AGENT_AGENT_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/error.h"
#include "base/mutex.h"
#include "spans/span.h"
#include "worker/agent/identity.h"
#include "worker/agent/link/log_listener.h"
#include "worker/agent/node/gpus.h"
#include "worker/agent/node/stock.h"
#include "worker/agent/options.h"
#include "worker/agent/trial/slot.h"
#include "worker/agent/trial/slot_context.h"

namespace frostline::agent {

// The agent of a node, with all its threads.
class Agent {
 public:
  // `clock` and `spans` outlive the agent. `spans` is null when nobody wants
  // spans.
  Agent(AgentOptions options, const Clock& clock, tls::Access access = {},
        spans::SpanSink* spans = nullptr);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // Runs until somebody stops the agent, and returns the exit code. Call it
  // once. The error says why the agent could not begin.
  absl::StatusOr<ExitCode> Run();
  // Any thread may call.
  void Stop(StopLevel level, ExitCode exit_code, const std::string& why);

 private:
  void AdoptOrphan(const RunFolder::Orphan& orphan);
  void FinishLost(Outbox& outbox, v1::LeftLog log);
  void TellWaiting(const absl::Status& before, const absl::Status& now);
  absl::StatusOr<v1::RegisterReply> RegisterFirst();
  v1::RegisterRequest Registration()
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(register_mutex_);
  absl::Status Register() ABSL_EXCLUSIVE_LOCKS_REQUIRED(register_mutex_);
  void RegisterAgain(SteadyTime refused_call);
  void EndDenied(const absl::Status& status);
  // False when the look is not over after a while, which is logged.
  bool AwaitLook(std::int64_t number);
  void TellChanges();
  void KeepRegistered();
  bool HasStock(const v1::TrialSpec& spec);
  void NotePrecisions(const std::vector<std::string>& precisions);
  void CountIdleSlots(int more);
  void NoteRetired();
  absl::Status StartSlots(const v1::RegisterReply& registered);
  void SayGoodbye();
  void Shutdown();

  AgentOptions options_;
  const Clock& clock_;
  spans::SpanSink* const spans_;
  const std::string boot_id_;
  v1::Hardware hardware_;
  std::vector<SlotEnvironment> plan_;
  Wakeup wakeup_;
  Wakeup registrar_wakeup_;
  StopSwitch stop_;
  RpcClient client_;
  // Null without a registry: then the coordinator hears of no stock.
  std::unique_ptr<StockWatch> stock_watch_;
  // Held during a registration too (at most 10 s), so that the coordinator
  // gets registrations in their order.
  Mutex register_mutex_;
  SteadyTime registered_again_ ABSL_GUARDED_BY(register_mutex_){};
  SteadyTime conflict_window_ ABSL_GUARDED_BY(register_mutex_){};
  int conflicts_ ABSL_GUARDED_BY(register_mutex_) = 0;
  v1::Stock stock_ ABSL_GUARDED_BY(register_mutex_);
  // The precisions that every trainer so far can compute in; nothing before a
  // trainer has said any.
  std::optional<std::set<std::string>> precisions_
      ABSL_GUARDED_BY(register_mutex_);
  // The logs of attempts that an earlier process did not end. The coordinator
  // is told once.
  std::vector<v1::LeftLog> left_logs_ ABSL_GUARDED_BY(register_mutex_);
  // How many slots ask for no trials now, and how many never will again.
  int held_up_ ABSL_GUARDED_BY(register_mutex_) = 0;
  int retired_ ABSL_GUARDED_BY(register_mutex_) = 0;
  // The coordinator knows everything that a registration would say now.
  bool is_registered_ ABSL_GUARDED_BY(register_mutex_) = false;
  std::unique_ptr<RunFolder> run_folder_;
  // Null for a worker that has not joined.
  std::unique_ptr<CertificateKeeper> certificates_;
  std::unique_ptr<FolderCleaner> folder_cleaner_;
  std::unique_ptr<Deliverer> deliverer_;
  // Null when the coordinator does not want to know how busy the GPUs are.
  std::unique_ptr<GpuWatch> gpu_watch_;
  std::unique_ptr<LeaseKeeper> keeper_;
  std::unique_ptr<LogListener> listener_;
  std::unique_ptr<SlotContext> context_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::thread registrar_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_AGENT_H_
