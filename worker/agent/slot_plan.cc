// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/slot_plan.h"

#include <dlfcn.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "worker/agent/hardware.h"

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

}  // namespace frostline::agent
