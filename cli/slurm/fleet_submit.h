// SPDX-License-Identifier: Apache-2.0
//
// File: fleet_submit.h
//
// A plan carried out: workers invited, the fleet's folder written, the array
// submitted. What sbatch refuses leaves nothing behind.
#ifndef FROSTLINE_CLI_SLURM_FLEET_SUBMIT_H_
#define FROSTLINE_CLI_SLURM_FLEET_SUBMIT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/slurm/fleet_plan.h"
#include "cli/slurm/slurm.h"

namespace frostline::cli {

// Returns the array's job id, or the error of the step that failed. Where the
// coordinator can invite nobody and is on this machine, the plan is changed to
// connect directly.
absl::StatusOr<std::int64_t> SubmitFleet(Client& client, const Slurm& slurm,
                                         const UpArgs& args, FleetPlan* plan);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_FLEET_SUBMIT_H_
