// SPDX-License-Identifier: Apache-2.0
//
// File: facts.h
//
// The slow facts: programs are run and a coordinator is asked, all at once and
// each with a time limit. Checks judge the results.
#ifndef FROSTLINE_CLI_DOCTOR_FACTS_H_
#define FROSTLINE_CLI_DOCTOR_FACTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/process/child_process.h"

namespace frostline::cli::doctor {

// Every fact about this machine comes through here, so that tests can replace
// it.

// The facts of a folder, or of the nearest existing folder above it.
struct FolderFacts {
  std::string nearest;
  bool is_there = false;  // the folder itself exists
  bool writable = false;
  std::int64_t free_bytes = 0;
  std::uint64_t file_system = 0;  // the type, as in statfs(2)
};

// The system under check.
struct Machine {
  std::string root;  // put before /proc and /sys; "" in production
  std::function<absl::StatusOr<Captured>(const std::vector<std::string>& words,
                                         Duration longest)>
      run;
  // Returns the path of a program of ours, or NOT_FOUND or TRAINER_START.
  std::function<absl::StatusOr<std::string>(const std::string& name)> sibling;
  std::function<absl::StatusOr<FolderFacts>(const std::string& folder)> look;

  // Returns the text of a file below /proc or /sys, or "" when it does not
  // exist.
  std::string Read(const std::string& path) const;
};

Machine ThisMachine();

// Limits for one program and for one call. Together they stay below five
// seconds.
inline constexpr Duration kProgramLimit = std::chrono::milliseconds(3'000);
inline constexpr std::chrono::milliseconds kCallLimit{1'200};

// What is known about the coordinator.
struct CoordinatorFacts {
  std::string target;     // "gpu-head.lan:7443, context lab (--context)"
  std::string address;    // "gpu-head.lan:7443"
  bool is_named = false;  // somebody chose it, so it should be there
  absl::Status reached;
  v1::ServerInfo info;
  v1::Identity who;
  // How far its clock is ahead of ours; absent when it cannot be asked.
  std::optional<double> ahead_seconds;
};

// All slow facts, gathered by GatherFacts().
struct Facts {
  // The output of `PROGRAM --version`, by program.
  std::map<std::string, absl::StatusOr<std::string>> versions;
  absl::StatusOr<Captured> self_check;  // JSON of frostline-trainer
  absl::StatusOr<Captured> nvidia_smi;
  CoordinatorFacts coordinator;
};

// Gathers the slow facts. `client` is not null when it is OK; otherwise its
// status says why there is none. `coordinator` holds what is known before the
// calls. Wall time comes from `clock`.
Facts GatherFacts(const Machine& machine, const absl::StatusOr<Client*>& client,
                  CoordinatorFacts coordinator, const Clock& clock);

}  // namespace frostline::cli::doctor

#endif  // FROSTLINE_CLI_DOCTOR_FACTS_H_
