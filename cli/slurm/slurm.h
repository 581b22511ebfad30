// SPDX-License-Identifier: Apache-2.0
//
// File: slurm.h
//
// What Slurm is asked: by its programs sbatch, squeue, scontrol and scancel,
// found in the PATH, with every word handed over as it is. Who we are there,
// and which cluster is meant, is the environment's to say, as for any user.
//
// Every error is ours: SLURM_MISSING where a program is not there, else
// SLURM_REFUSED with Slurm's own words.
#ifndef FROSTLINE_CLI_SLURM_SLURM_H_
#define FROSTLINE_CLI_SLURM_SLURM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// What sbatch gets to start `tasks` tasks of one script.
struct ArraySpec {
  std::string name;
  std::string folder;  // the tasks' working folder, with log/ in it
  std::string partition;
  std::string gres;
  int tasks = 1;
  int at_a_time = 1;
  std::string script;
  std::vector<std::string> arguments;  // of the script
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
  // By Hold(), or by somebody else.
  bool is_held() const { return reason.find("Held") != std::string::npos; }
};

// Returns the words of the command line for `spec`.
std::vector<std::string> SubmitWords(const ArraySpec& spec);

// Reads what Look() has squeue print. Lines of another form are left out.
std::vector<ArrayTask> ParseTasks(const std::string& text);

class Slurm {
 public:
  // Answers SLURM_MISSING unless all four programs are in the PATH.
  static absl::StatusOr<Slurm> Find();

  // Returns the array's job id.
  absl::StatusOr<std::int64_t> Submit(const ArraySpec& spec) const;
  // Tasks of our own arrays of this name that have not ended.
  absl::StatusOr<std::vector<ArrayTask>> Look(const std::string& name) const;
  absl::StatusOr<std::string> ClusterName() const;

  // At most so many tasks run at a time; what runs goes on. For Slurm 0 stands
  // for no bound, so REQUIRES: at_a_time > 0.
  absl::Status Throttle(std::int64_t array, int at_a_time) const;
  // Nothing more of it begins, until Release().
  absl::Status Hold(std::int64_t array) const;
  absl::Status Release(std::int64_t array) const;

  // Ends the tasks that have not begun.
  absl::Status CancelWaiting(std::int64_t array) const;
  // To all that runs below the script of each running task.
  absl::Status SignalRunning(std::int64_t array,
                             const std::string& signal) const;

 private:
  Slurm() = default;
};

// How one of Slurm's programs is run, and what its words mean: an answer, or an
// error of ours with Slurm's words and the option of ours that helps.

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

#endif  // FROSTLINE_CLI_SLURM_SLURM_H_
