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
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "frostline/v1/study.pb.h"

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_H_
