// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/slot_trainer.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "worker/agent/node/gpus.h"
#include "worker/agent/process/protocol.h"

namespace frostline::agent {
namespace {

// Both libraries read it; the second knows a name of its own too.
constexpr const char* kThreadVariables[] = {"OMP_NUM_THREADS",
                                            "MKL_NUM_THREADS"};

// How often a thread looks before it sleeps. libgomp's own default lets idle
// threads spin for milliseconds, which on cores that have other work made a
// training step nine times dearer; with this one four times, and alone it
// costs nothing that can be measured.
constexpr char kSpins[] = "GOMP_SPINCOUNT=2000";

constexpr char kOurTrainer[] = "frostline-trainer";

absl::Status TooManySlots(std::size_t slots, std::size_t gpus) {
  const std::size_t share = (slots + gpus - 1) / gpus;
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("--slots is ", slots, ", but this node has ",
                                gpus, " GPUs to see"),
                   absl::StrCat("let them share: --slots-per-gpu ", share,
                                "; or use none: CUDA_VISIBLE_DEVICES="),
                   "--slots");
}

absl::StatusOr<std::size_t> CountSlots(const AgentOptions& options,
                                       std::size_t gpus) {
  const auto per_gpu = static_cast<std::size_t>(options.slots_per_gpu);
  if (!options.slot_per_gpu) {
    const auto slots = static_cast<std::size_t>(options.slots);
    if (slots > 1 && gpus > 0 && slots > gpus * per_gpu) {
      return TooManySlots(slots, gpus);
    }
    return slots;
  }
  if (gpus == 0) {
    return MakeError(ErrorId::kRequestInvalid, "this node has no GPU to see",
                     "give --slots a number", "--slots");
  }
  return std::min(gpus * per_gpu, std::size_t{kMaxSlots});
}

bool CanOpen(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

// In an image without a driver /proc still shows the node's GPUs, and a
// scheduler still names them. Another trainer than ours knows what it needs.
absl::Status CheckDriver(const AgentOptions& options, std::size_t gpus,
                         const std::string& driver) {
  const bool is_ours = absl::StrContains(options.exec, kOurTrainer);
  if (gpus == 0 || !is_ours || CanOpen(driver)) {
    return absl::OkStatus();
  }
  const absl::Status missing = MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("this node has ", gpus, " GPUs to see, but no driver (",
                   driver, "), so only the processor could train"),
      "run the image with NVIDIA's container toolkit, or install the driver; "
      "to train on the processor give --slots a number",
      "--slots");
  if (options.slot_per_gpu) return missing;
  Log(LogLevel::kWarning, "gpu_without_driver",
      {{"cause", std::string(missing.message())}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SlotEnvironment>> PlanSlots(
    const AgentOptions& options, const v1::Hardware& hardware,
    const LookUp& look_up, const std::string& driver) {
  const std::vector<std::string> gpus =
      GpuSlots(look_up("CUDA_VISIBLE_DEVICES"), hardware);
  RETURN_IF_ERROR(CheckDriver(options, gpus.size(), driver));
  const auto slots = CountSlots(options, gpus.size());
  if (!slots.ok()) return slots.status();
  std::vector<SlotEnvironment> plan(*slots);
  if (options.slot_per_gpu || (*slots > 1 && !gpus.empty())) {
    // Whoever chose the GPUs, or their order, knows what the numbers mean.
    const bool chosen = look_up("CUDA_VISIBLE_DEVICES") != nullptr ||
                        look_up("CUDA_DEVICE_ORDER") != nullptr;
    for (std::size_t i = 0; i < *slots; ++i) {
      plan[i].push_back("CUDA_VISIBLE_DEVICES=" + gpus[i % gpus.size()]);
      // Ours are those of the bus, not of CUDA's "fastest first".
      if (!chosen) plan[i].push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    }
  }
  if (*slots > 1 && look_up(kThreadVariables[0]) == nullptr) {
    const auto share = std::max<std::size_t>(
        1,
        static_cast<std::size_t>(std::max(hardware.cpu_cores(), 1)) / *slots);
    for (const char* variable : kThreadVariables) {
      if (look_up(variable) != nullptr) continue;
      for (SlotEnvironment& slot : plan) {
        slot.push_back(absl::StrCat(variable, "=", share));
      }
    }
  }
  if (look_up("GOMP_SPINCOUNT") == nullptr &&
      look_up("OMP_WAIT_POLICY") == nullptr) {
    for (SlotEnvironment& slot : plan) slot.emplace_back(kSpins);
  }
  return plan;
}

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
