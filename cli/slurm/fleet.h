// SPDX-License-Identifier: Apache-2.0
//
// File: fleet.h
//
// A fleet is the workers of one Slurm array. Slurm knows it by the name of its
// jobs. Everything else is in its folder (mode 0700), which is also the working
// folder of its tasks:
//
//   frostline-slurm/imdb-3f9c0a/worker.sbatch   the script; yours to look at
//   frostline-slurm/imdb-3f9c0a/join            0600, an invitation a line
//   frostline-slurm/imdb-3f9c0a/log/0.log       what task 0 says
#ifndef FROSTLINE_CLI_SLURM_FLEET_H_
#define FROSTLINE_CLI_SLURM_FLEET_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/slurm/slurm.h"
#include "frostline/v1/study.pb.h"
#include "frostline/v1/worker.pb.h"

namespace frostline::cli {

// The text of deploy/slurm/worker.sbatch at build time.
extern const char kWorkerScript[];

// The number of workers that studies can use. A study can use as many slots as
// it has trials left, but not more than help its sampler
// (Study.useful_parallelism) or than its owner allows with max_parallel:
//
//   study   = min(left, max_parallel or max(useful, running + queued))
//   workers = min(max, ceil(sum over studies / slots of a worker))
//
//   200 trials, 180 ended, useful 28, 4 slots: min(20, 28) = 20, so 5 workers

// What studies can use.
struct Demand {
  std::int64_t left = 0;     // trials that have not ended, begun or not
  std::int64_t running = 0;  // trials among them that run
  std::int64_t usable = 0;   // slots that can be used
};

// Returns what a study can use. A study that has ended needs nothing; a paused
// one needs only the slots of its running trials.
Demand DemandOf(const v1::Study& study);
Demand DemandOf(const std::vector<v1::Study>& studies);

// Returns the number of workers. REQUIRES: slots > 0.
int WorkersFor(const Demand& demand, int slots, int most);

// Returns "6 at a time (24 trials left, 12 useful at a time, at most 6)".
std::string DescribeWish(const Demand& demand, int wish, int most);

// The studies that a fleet works for: one, or all.
struct FleetOf {
  std::string study;  // id; empty with `all`
  bool all = false;
};

// The first adds STUDY and --all. The second returns REQUEST_INVALID unless
// exactly one of them is given.
void AddFleetOf(CLI::App* verb, FleetOf* fleet);
absl::Status CheckFleetOf(FleetOf* fleet);

// Returns "frostline-imdb", or "frostline" for --all. They never collide,
// because no study has an empty id.
std::string JobNameOf(const FleetOf& fleet);
// Returns SLURM_REFUSED: no task of this fleet waits or runs.
absl::Status NoFleet(const FleetOf& fleet);
// Returns a new id such as "imdb-3f9c0a". The workers' names begin with it, and
// each task's worker and each fleet has another name.
std::string NewFleetId(const FleetOf& fleet);

// Fetches the study, or with --all all studies that have not ended.
absl::StatusOr<std::vector<v1::Study>> FetchStudiesOf(Client& client,
                                                      const FleetOf& fleet);

// Creates the folder with log/ and the script. Returns its absolute path.
absl::StatusOr<std::string> MakeFleetFolder(const std::string& parent,
                                            const std::string& id);

// The plan of `frostline slurm up`: what it would submit. Planning creates no
// folder, invites no worker and runs no sbatch.

// The arguments as the user gave them.
struct UpArgs {
  FleetOf fleet;
  std::string partition;
  std::string gres = "gpu:1";
  int max = 1;
  std::string slots = "1";
  std::string registry;
  std::string exec;
  std::string command;  // an unedited program, with what follows about it
  std::vector<std::string> command_flags;  // --metrics=…, --set=…, in order
  int gpus_per_slot = 1;
  bool fresh_process = false;
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

// Views of a fleet: its tasks beside the coordinator's workers. A worker
// belongs to a task by its labels slurm_cluster, slurm_job and slurm_task,
// which worker.sbatch sets.

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

#endif  // FROSTLINE_CLI_SLURM_FLEET_H_
