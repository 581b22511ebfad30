// SPDX-License-Identifier: Apache-2.0
//
// File: slot_plan.h
//
// Decides which GPU each slot's trainer sees and how many threads it may start.
#ifndef FROSTLINE_WORKER_AGENT_SLOT_PLAN_H_
#define FROSTLINE_WORKER_AGENT_SLOT_PLAN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/options.h"

namespace frostline::agent {

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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SLOT_PLAN_H_
