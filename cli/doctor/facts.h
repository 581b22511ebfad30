// SPDX-License-Identifier: Apache-2.0
//
// File: facts.h
//
// What takes time to find out: programs that are run and a coordinator that is
// asked, all at once, each for so long and no longer. Checks judge it then.
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

// All that the doctor sees of this machine goes through here, so that a test
// can show it another one.

// Of a folder, or of the nearest one above it that is there.
struct FolderFacts {
  std::string nearest;
  bool is_there = false;  // the folder itself
  bool writable = false;
  std::int64_t free_bytes = 0;
  std::uint64_t file_system = 0;  // as statfs(2) numbers them
};

struct Machine {
  std::string root;  // before /proc and /sys; "" is the real one
  std::function<absl::StatusOr<Captured>(const std::vector<std::string>& words,
                                         Duration longest)>
      run;
  // The path of a program of ours; NOT_FOUND or TRAINER_START where none is.
  std::function<absl::StatusOr<std::string>(const std::string& name)> sibling;
  std::function<absl::StatusOr<FolderFacts>(const std::string& folder)> look;

  // Returns a file below /proc or /sys, "" when it is not there.
  std::string Read(const std::string& path) const;
};

Machine ThisMachine();

// With the calls to a coordinator it stays below five seconds.
inline constexpr Duration kProgramLimit = std::chrono::milliseconds(3'000);
inline constexpr std::chrono::milliseconds kCallLimit{1'200};

struct CoordinatorFacts {
  std::string target;     // "gpu-head.lan:7443, context lab (--context)"
  std::string address;    // "gpu-head.lan:7443"
  bool is_named = false;  // by somebody, so that it should be there
  absl::Status reached;
  v1::ServerInfo info;
  v1::Identity who;
  // How far its clock is before ours; absent: it cannot be asked.
  std::optional<double> ahead_seconds;
};

struct Facts {
  // What `PROGRAM --version` prints.
  std::map<std::string, absl::StatusOr<std::string>> versions;
  absl::StatusOr<Captured> self_check;  // of frostline-trainer, in JSON
  absl::StatusOr<Captured> nvidia_smi;
  CoordinatorFacts coordinator;
};

// `client` is OK and not null, or says why there is none. `coordinator` has
// what is known before it is asked. Wall time comes from `clock`.
Facts GatherFacts(const Machine& machine, const absl::StatusOr<Client*>& client,
                  CoordinatorFacts coordinator, const Clock& clock);

}  // namespace frostline::cli::doctor

#endif  // FROSTLINE_CLI_DOCTOR_FACTS_H_
