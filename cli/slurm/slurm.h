// SPDX-License-Identifier: Apache-2.0
//
// File: slurm.h
//
// The interface to Slurm: its programs sbatch, squeue, scontrol and scancel
// from the PATH, run without a shell. The environment decides the user and the
// cluster, as for any command.
//
// Errors are SLURM_MISSING when a program does not exist, else SLURM_REFUSED
// with Slurm's own words.
#ifndef FROSTLINE_CLI_SLURM_SLURM_H_
#define FROSTLINE_CLI_SLURM_SLURM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// What sbatch needs to start `tasks` tasks of one script.
struct ArraySpec {
  std::string name;
  std::string folder;  // the tasks' working folder, with log/ in it
  std::string partition;
  std::string gres;
  int tasks = 1;
  int at_a_time = 1;
  std::string script;
  std::vector<std::string> arguments;  // for the script
};

// A task of an array.
struct ArrayTask {
  std::int64_t array = 0;
  int index = 0;
  std::string state;   // "PENDING", "RUNNING", "COMPLETING", …
  std::string node;    // empty while it waits
  std::string reason;  // why it waits, in Slurm's word
  std::string folder;

  bool waits() const { return state == "PENDING"; }
  bool runs() const { return state == "RUNNING"; }
  // Returns whether Hold() or somebody else holds it.
  bool is_held() const { return reason.find("Held") != std::string::npos; }
};

// Returns the words of the command line for `spec`.
std::vector<std::string> SubmitWords(const ArraySpec& spec);

// Parses the output of squeue as Look() asks for it. Lines of another form are
// skipped.
std::vector<ArrayTask> ParseTasks(const std::string& text);

// Access to Slurm by its own programs.
class Slurm {
 public:
  // Returns SLURM_MISSING unless all four programs are in the PATH.
  static absl::StatusOr<Slurm> Find();

  // Submits an array and returns its job id.
  absl::StatusOr<std::int64_t> Submit(const ArraySpec& spec) const;
  // Returns the tasks of our own arrays of this name that have not ended.
  absl::StatusOr<std::vector<ArrayTask>> Look(const std::string& name) const;
  absl::StatusOr<std::string> ClusterName() const;

  // Limits the number of tasks that run at a time; running tasks go on.
  // REQUIRES: at_a_time > 0, because Slurm takes 0 for no limit.
  absl::Status Throttle(std::int64_t array, int at_a_time) const;
  // Stops new tasks of the array from starting until Release().
  absl::Status Hold(std::int64_t array) const;
  absl::Status Release(std::int64_t array) const;

  // Cancels the tasks that have not begun.
  absl::Status CancelWaiting(std::int64_t array) const;
  // Sends a signal to all processes below the script of each running task.
  absl::Status SignalRunning(std::int64_t array,
                             const std::string& signal) const;

 private:
  Slurm() = default;
};

// Running Slurm's programs and reading their output: as an answer, or as an
// error with Slurm's words and the option of ours that helps.

// Returns SLURM_MISSING for this program.
absl::Status SlurmMissing(const std::string& program);
// Returns SLURM_REFUSED with Slurm's words and what may help.
absl::Status SlurmRefused(const std::string& program, const std::string& words);

// Runs a program without a shell and returns its output.
absl::StatusOr<std::string> AskSlurm(const std::vector<std::string>& words);
// Does the same for a command that changes an array. Complaints about tasks
// that have ended are ignored, because the other tasks got the command.
absl::Status TellSlurm(const std::vector<std::string>& words);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_SLURM_SLURM_H_
