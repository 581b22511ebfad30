// SPDX-License-Identifier: Apache-2.0
//
// File: slot_trainer.h
//
// The trainer of a slot, which lives from trial to trial: it is started when it
// is needed, renewed when the registry's files say something else, and awaited
// when not even SIGKILL ends it. All calls come from the slot's thread.
#ifndef FROSTLINE_WORKER_AGENT_SLOT_TRAINER_H_
#define FROSTLINE_WORKER_AGENT_SLOT_TRAINER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/options.h"
#include "worker/agent/process/log_tail.h"
#include "worker/agent/process/trainer_process.h"
#include "worker/agent/trial/slot_context.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SLOT_TRAINER_H_
