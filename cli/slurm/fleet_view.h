// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_view.h
//
// A worker belongs to a task by its labels slurm_cluster, slurm_job and
// slurm_task, which worker.sbatch gives it.
#ifndef FROSTLINE_CLI_SLURM_FLEET_VIEW_H_
#define FROSTLINE_CLI_SLURM_FLEET_VIEW_H_

#include <string>
#include <vector>

#include "cli/slurm/slurm.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

struct FleetFacts {
  std::string job_name;
  std::string cluster;
  std::vector<ArrayTask> tasks;
  std::vector<v1::Worker> workers;  // all that the coordinator knows
};

// Trials at a time of one of the fleet's workers, as they registered, also of
// tasks that have ended; 1 before any did. Another cluster may have an array of
// the same number.
int SlotsOfFleet(const FleetFacts& facts);

// A line for each task with its worker, then whoever else works for this
// coordinator: another fleet, another cluster, or no Slurm at all.
std::string RenderFleet(const FleetFacts& facts, int width);

// {"job_name", "cluster", "tasks": [{"array", "task", "state", "node",
// "reason", "worker", "worker_state", "trials"}], "other_workers":
// [{"worker", "state", "cluster", "array"}]}
std::string SlurmFleetJson(const FleetFacts& facts);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_VIEW_H_
