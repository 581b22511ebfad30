// SPDX-License-Identifier: Apache-2.0
//
// File: demand.h
//
// How many workers studies can use. A study can use as many slots as it has
// trials left, and no more than teach its sampler (Study.useful_parallelism),
// or than its owner set with max_parallel:
//
//   study   = min(left, max_parallel or max(useful, running + queued))
//   workers = min(max, ceil(sum over studies / slots of a worker))
//
//   200 trials, 180 ended, useful 28, 4 slots: min(20, 28) = 20, so 5 workers
#ifndef FROSTLINE_CLI_SLURM_DEMAND_H_
#define FROSTLINE_CLI_SLURM_DEMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frostline/v1/study.pb.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_DEMAND_H_
