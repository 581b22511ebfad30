// SPDX-License-Identifier: Apache-2.0
//
// File: slurm_program.h
//
// How one of Slurm's programs is run, and what its words mean: an answer, or an
// error of ours with Slurm's words and the option of ours that helps.
#ifndef FROSTLINE_CLI_SLURM_SLURM_PROGRAM_H_
#define FROSTLINE_CLI_SLURM_SLURM_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// SLURM_MISSING.
absl::Status SlurmMissing(const std::string& program);
// SLURM_REFUSED with those words and what may help.
absl::Status SlurmRefused(const std::string& program, const std::string& words);

// Runs a program by its words, without a shell. Returns what it printed.
absl::StatusOr<std::string> AskSlurm(const std::vector<std::string>& words);
// The same for what changes an array. Complaints about tasks that have ended
// are no failure: the others have been told.
absl::Status TellSlurm(const std::vector<std::string>& words);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_SLURM_PROGRAM_H_
