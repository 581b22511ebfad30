// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_plan.h
//
// What `frostline slurm up` would submit, told before anything is done: no
// folder made, nobody invited, nothing sent to sbatch.
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

// The invitations of a fleet's workers, one for each task: made by `up`, used
// once by the worker of that task, ended by whoever sees the fleet go.

// One for each of the workers ID-0 … ID-(tasks-1), who alone may use it,
// however long its task waits (90 days). When one is refused those before are
// revoked. Answers JOIN_UNAVAILABLE where the coordinator has no CA.
struct Invitations {
  std::string text;                    // a line for each task
  std::vector<std::string> token_ids;  // to revoke them by
};
absl::StatusOr<Invitations> Invite(Client& client, const std::string& id,
                                   int tasks);
void Revoke(Client& client, const Invitations& invitations);

// The task's worker ("workers/imdb-3f9c0a-7"), if `slurm up` invited it; empty
// where the invitations are an admin's own, which are not ours to end.
std::string InvitedWorker(const ArrayTask& task);

// Ends what workers that will never begin have not used, and says on standard
// error how many. That this cannot be is said there too, and is no failure: the
// fleet has gone all the same. Asks the coordinator only if there is a worker.
void EndInvitations(Session& session, const std::set<std::string>& workers);

// A plan carried out: workers invited, the fleet's folder written, the array
// submitted. What sbatch refuses leaves nothing behind.
//
// Returns the array's job id, or the error of the step that failed. Where the
// coordinator can invite nobody and is on this machine, the plan is changed to
// connect directly.
absl::StatusOr<std::int64_t> SubmitFleet(Client& client, const Slurm& slurm,
                                         const UpArgs& args, FleetPlan* plan);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_PLAN_H_
