// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_view.h
//
// Views of a fleet: its tasks beside the coordinator's workers. A worker
// belongs to a task by its labels slurm_cluster, slurm_job and slurm_task,
// which worker.sbatch sets.
#ifndef FROSTLINE_CLI_SLURM_FLEET_VIEW_H_
#define FROSTLINE_CLI_SLURM_FLEET_VIEW_H_

#include <string>
#include <vector>

#include "cli/slurm/slurm.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

// What Slurm and the coordinator know about a fleet.
struct FleetFacts {
  std::string job_name;
  std::string cluster;
  std::vector<ArrayTask> tasks;
  std::vector<v1::Worker> workers;  // all that the coordinator knows
};

// Returns how many trials one of the fleet's workers runs at a time, from the
// workers that registered, also those of ended tasks; 1 if none has registered
// yet. It compares the cluster too, because another cluster may have an array
// of the same number.
int SlotsOfFleet(const FleetFacts& facts);

// Returns a line for each task with its worker, then the other workers of this
// coordinator: from another fleet, another cluster, or without Slurm.
std::string RenderFleet(const FleetFacts& facts, int width);

// Returns JSON:
//   {"job_name", "cluster", "tasks": [{"array", "task", "state", "node",
//   "reason", "worker", "worker_state", "trials"}],
//   "other_workers": [{"worker", "state", "cluster", "array"}]}
std::string SlurmFleetJson(const FleetFacts& facts);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_VIEW_H_
