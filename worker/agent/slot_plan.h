// SPDX-License-Identifier: Apache-2.0
//
// File: slot_plan.h
//
// How a node is divided into slots: which GPU each trainer sees and how many
// threads it may start. A pure function of the options, the hardware and the
// agent's own environment, in which a scheduler or a user may have decided
// already.
#ifndef FROSTLINE_WORKER_AGENT_SLOT_PLAN_H_
#define FROSTLINE_WORKER_AGENT_SLOT_PLAN_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/worker.pb.h"
#include "worker/agent/options.h"

namespace frostline::agent {

// "KEY=VALUE" that its trainer gets besides the agent's own.
using SlotEnvironment = std::vector<std::string>;

// As getenv(3).
using LookUp = std::function<const char*(const char*)>;

// One entry for each slot:
//   - a single slot that was not asked for with `gpu` has the node to itself:
//     neither GPUs nor threads are given out;
//   - otherwise, where there are GPUs, each slot sees one of them, in turn, and
//     each GPU has at most --slots-per-gpu slots;
//   - without GPUs CUDA_VISIBLE_DEVICES stays as it is;
//   - two and more slots share the cores, unless OMP_NUM_THREADS is set;
//   - threads that wait soon sleep, unless the environment says how they wait.
// REQUEST_INVALID at --slots when it cannot be.
absl::StatusOr<std::vector<SlotEnvironment>> PlanSlots(
    const AgentOptions& options, const v1::Hardware& hardware,
    const LookUp& look_up);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SLOT_PLAN_H_
