// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/slot_trainer.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "worker/agent/protocol.h"

namespace frostline::agent {
namespace {

constexpr Duration kExitGrace = std::chrono::seconds(2);
constexpr Duration kTrainerKillGrace = std::chrono::seconds(2);
constexpr Duration kLateLook = std::chrono::seconds(1);

}  // namespace

SlotTrainer::SlotTrainer(SlotContext& context, int slot,
                         SlotEnvironment environment, Wakeup& wakeup,
                         LogTail& log)
    : context_(context),
      slot_(slot),
      environment_(std::move(environment)),
      wakeup_(wakeup),
      log_(log) {}

absl::Status SlotTrainer::LivesOn() {
  return MakeError(ErrorId::kTrainerExited,
                   "the trainer before lives on after SIGKILL",
                   "see slot_held_up in the agent's log");
}

absl::Status SlotTrainer::Ensure() {
  // One that ended after its finish is no failure.
  if (process_ != nullptr) {
    for (const std::string& line : process_->Wait(wakeup_, Duration()).lines) {
      log_.Append(line + "\n");
    }
    if (!process_->ended()) {
      const bool is_old = generation_ != context_.registry_generation();
      return is_old ? Renew() : absl::OkStatus();
    }
  }
  return Start();
}

absl::Status SlotTrainer::Renew() {
  Log(LogLevel::kInfo, "trainer_renewed",
      {{"slot", absl::StrCat(slot_)}, {"cause", "the registry changed"}});
  AskToExit();
  Drop();
  return IsHeldUp() ? LivesOn() : Start();
}

// Absolute: a trainer works in another folder.
std::string SlotTrainer::PrefixFolder() const {
  const std::string& given = context_.options.prefix_dir;
  if (given.empty()) return context_.run_folder.path() + "/prefix";
  std::error_code error;
  const std::string folder = std::filesystem::absolute(given, error).string();
  return error ? given : folder;
}

absl::Status SlotTrainer::Start() {
  // Before it starts: it may read a newer registry, never an older one.
  generation_ = context_.registry_generation();
  TrainerCommand command;
  command.command = context_.options.exec;
  command.environment = {"FROSTLINE_WORKER=" + context_.options.id,
                         absl::StrCat("FROSTLINE_SLOT=", slot_),
                         absl::StrCat("FROSTLINE_PROTOCOL=", kProtocolVersion)};
  if (!context_.options.registry.empty()) {
    command.environment.push_back("FROSTLINE_REGISTRY=" +
                                  context_.options.registry);
  }
  if (context_.options.prefix_dir != "off") {
    command.environment.push_back("FROSTLINE_PREFIX_DIR=" + PrefixFolder());
  }
  if (context_.options.prefix_bytes > 0) {
    command.environment.push_back(
        absl::StrCat("FROSTLINE_PREFIX_BYTES=", context_.options.prefix_bytes));
  }
  command.environment.insert(command.environment.end(), environment_.begin(),
                             environment_.end());
  ASSIGN_OR_RETURN(process_, TrainerProcess::Start(command, log_));
  ++started_;
  return absl::OkStatus();
}

void SlotTrainer::Drop() {
  process_->Kill();
  if (!process_->unkillable()) process_.reset();
}

bool SlotTrainer::IsHeldUp() const {
  return process_ != nullptr && process_->unkillable();
}

bool SlotTrainer::AwaitLateEnd() {
  Log(LogLevel::kWarning, "slot_held_up",
      {{"slot", absl::StrCat(slot_)},
       {"process", absl::StrCat(process_->pid())},
       {"cause", "it lives on after SIGKILL"},
       {"fix", "see what holds it (its /proc/PID/stack)"}});
  context_.slot_held_up();
  const SteadyTime until =
      context_.clock.Steady() + context_.options.unkillable_patience;
  while (context_.stop.level() == StopLevel::kRun) {
    if (process_->EndedAtLast()) {
      process_.reset();
      Log(LogLevel::kInfo, "slot_freed", {{"slot", absl::StrCat(slot_)}});
      context_.slot_freed();
      return true;
    }
    if (context_.clock.Steady() >= until) {
      Log(LogLevel::kError, "slot_retired",
          {{"slot", absl::StrCat(slot_)},
           {"process", absl::StrCat(process_->pid())},
           {"cause", "it lives on after SIGKILL"},
           {"fix", "restart the node"}});
      return false;
    }
    wakeup_.WaitFor(kLateLook);
  }
  return true;
}

void SlotTrainer::AskToExit() {
  process_->Send(ExitLine());
  process_->CloseInput();
  const SteadyTime deadline = context_.clock.Steady() + kExitGrace;
  while (!process_->ended() && !process_->unkillable() &&
         context_.clock.Steady() < deadline) {
    const auto output =
        process_->Wait(wakeup_, deadline - context_.clock.Steady());
    if (output.overlong) break;
  }
}

void SlotTrainer::End() {
  if (process_ == nullptr) return;
  AskToExit();
  process_->Terminate(kTrainerKillGrace);
  process_.reset();
}

}  // namespace frostline::agent
