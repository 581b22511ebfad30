// SPDX-License-Identifier: Apache-2.0
//
// File: fleet.h
//
// A fleet is the workers of one Slurm array. Slurm knows it by the name of its
// jobs, and everything else lies in its folder, of mode 0700, which is the
// working folder of its tasks too:
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

// deploy/slurm/worker.sbatch, as it was when this program was built.
extern const char kWorkerScript[];

// How many workers studies can use. A study can use as many slots as it has
// trials left, and no more than teach its sampler (Study.useful_parallelism),
// or than its owner set with max_parallel:
//
//   study   = min(left, max_parallel or max(useful, running + queued))
//   workers = min(max, ceil(sum over studies / slots of a worker))
//
//   200 trials, 180 ended, useful 28, 4 slots: min(20, 28) = 20, so 5 workers

struct Demand {
  std::int64_t left = 0;     // trials that have not ended, begun or not
  std::int64_t running = 0;  // of them
  std::int64_t usable = 0;   // slots
};

// One that has ended needs nothing, a paused one what runs.
Demand DemandOf(const v1::Study& study);
Demand DemandOf(const std::vector<v1::Study>& studies);

// REQUIRES: slots > 0.
int WorkersFor(const Demand& demand, int slots, int most);

// "6 at a time (24 trials left, 12 useful at a time, at most 6)".
std::string DescribeWish(const Demand& demand, int wish, int most);

// Which studies a fleet works for: one, or whatever there is.
struct FleetOf {
  std::string study;  // id; empty with `all`
  bool all = false;
};

// Adds STUDY and --all. Exactly one is to be given: CheckFleetOf() answers
// REQUEST_INVALID otherwise.
void AddFleetOf(CLI::App* verb, FleetOf* fleet);
absl::Status CheckFleetOf(FleetOf* fleet);

// "frostline-imdb", or "frostline" of --all: no study has an empty id.
std::string JobNameOf(const FleetOf& fleet);
// SLURM_REFUSED: nothing of it waits or runs.
absl::Status NoFleet(const FleetOf& fleet);
// "imdb-3f9c0a": begins the workers' names, each task's and each fleet's other.
std::string NewFleetId(const FleetOf& fleet);

// The study, or all that have not ended.
absl::StatusOr<std::vector<v1::Study>> FetchStudiesOf(Client& client,
                                                      const FleetOf& fleet);

// Makes the folder, log/ and the script. Returns its absolute path.
absl::StatusOr<std::string> MakeFleetFolder(const std::string& parent,
                                            const std::string& id);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_H_
