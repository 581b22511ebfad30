// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_plan.h
//
// The plan of `frostline slurm up`: what it would submit. Planning creates no
// folder, invites no worker and runs no sbatch.
#ifndef FROSTLINE_CLI_SLURM_FLEET_PLAN_H_
#define FROSTLINE_CLI_SLURM_FLEET_PLAN_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/slurm.h"

namespace frostline::cli {

// The arguments as the user gave them.
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

// The array that would be submitted, and why it has this size.
struct FleetPlan {
  std::string id;
  ArraySpec array;
  Demand demand;
  bool connects_directly = false;  // no invitations: one machine without a CA
};

// Checks what can be checked without a coordinator; the errors are
// REQUEST_INVALID and the like. Makes the path `join` absolute.
absl::Status CheckUpArgs(UpArgs* args);

// Plans a fleet. Returns STUDY_NOT_ACTIVE for a study that has ended, and
// SLURM_REFUSED when a fleet of this name exists. REQUIRES: CheckUpArgs()
// returned OK.
absl::StatusOr<FleetPlan> PlanFleet(Client& client, const Slurm& slurm,
                                    const UpArgs& args);

// Invitations of a fleet's workers, one for each task. `up` creates them, the
// worker of the task uses its own once, and whoever notices the end of the
// fleet revokes the rest.

// Invitations for the workers ID-0 … ID-(tasks-1). Each is valid for one worker
// only, and for 90 days, because a task may wait long. If one cannot be
// created, Invite() revokes those before it. Returns JOIN_UNAVAILABLE when the
// coordinator has no CA.
struct Invitations {
  std::string text;                    // a line for each task
  std::vector<std::string> token_ids;  // for revoking them
};
absl::StatusOr<Invitations> Invite(Client& client, const std::string& id,
                                   int tasks);
void Revoke(Client& client, const Invitations& invitations);

// Returns the worker of a task ("workers/imdb-3f9c0a-7") if `slurm up` invited
// it. Returns "" when an admin made the invitations, because those are not ours
// to revoke.
std::string InvitedWorker(const ArrayTask& task);

// Revokes the unused invitations of workers that will never start, and prints
// their number on standard error. A failure is printed there too and is not
// returned, because the fleet is gone anyway. It calls the coordinator only if
// `workers` is not empty.
void EndInvitations(Session& session, const std::set<std::string>& workers);

// Carries out a plan: invites the workers, writes the fleet's folder and
// submits the array. If sbatch refuses, nothing is left behind.
//
// Returns the array's job id, or the error of the step that failed. If the
// coordinator cannot invite workers and is on this machine, it changes the plan
// to connect directly.
absl::StatusOr<std::int64_t> SubmitFleet(Client& client, const Slurm& slurm,
                                         const UpArgs& args, FleetPlan* plan);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_PLAN_H_
