// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_plan.h
//
// What `frostline slurm up` would submit, told before anything is done: no
// folder made, nobody invited, nothing sent to sbatch.
#ifndef FROSTLINE_CLI_SLURM_FLEET_PLAN_H_
#define FROSTLINE_CLI_SLURM_FLEET_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/slurm/demand.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/slurm.h"

namespace frostline::cli {

// As the user gave it.
struct UpArgs {
  FleetOf fleet;
  std::string partition;
  std::string gres = "gpu:1";
  int max = 1;
  std::string slots = "1";
  std::string registry;
  std::string exec;
  std::vector<std::string> labels;
  std::string run_dir = "frostline-runs";
  std::string idle = "10m";
  std::string program;
  std::string folder = "frostline-slurm";
  std::string id;
  std::string join;
  bool dry_run = false;
  bool json = false;
};

struct FleetPlan {
  std::string id;
  ArraySpec array;
  Demand demand;
  bool connects_directly = false;  // no invitations: one machine, no CA
};

// REQUEST_INVALID and the like of what can be told without a coordinator. Makes
// `join` absolute.
absl::Status CheckUpArgs(UpArgs* args);

// STUDY_NOT_ACTIVE of a study that has ended, SLURM_REFUSED where there is a
// fleet of this name. REQUIRES: CheckUpArgs() is satisfied.
absl::StatusOr<FleetPlan> PlanFleet(Client& client, const Slurm& slurm,
                                    const UpArgs& args);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_PLAN_H_
