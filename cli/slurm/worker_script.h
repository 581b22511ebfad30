// SPDX-License-Identifier: Apache-2.0
//
// File: worker_script.h
#ifndef FROSTLINE_CLI_SLURM_WORKER_SCRIPT_H_
#define FROSTLINE_CLI_SLURM_WORKER_SCRIPT_H_

namespace frostline::cli {

// deploy/slurm/worker.sbatch, as it was when this program was built.
extern const char kWorkerScript[];

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_WORKER_SCRIPT_H_
