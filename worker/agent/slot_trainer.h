// SPDX-License-Identifier: Apache-2.0
//
// File: slot_trainer.h
//
// The trainer of a slot, which lives from trial to trial: it is started when it
// is needed, renewed when the registry's files say something else, and awaited
// when not even SIGKILL ends it. All calls come from the slot's thread.
#ifndef FROSTLINE_WORKER_AGENT_SLOT_TRAINER_H_
#define FROSTLINE_WORKER_AGENT_SLOT_TRAINER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "worker/agent/log_tail.h"
#include "worker/agent/slot_context.h"
#include "worker/agent/slot_plan.h"
#include "worker/agent/trainer_process.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

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
