// SPDX-License-Identifier: Apache-2.0
//
// File: doctor.h
//
// `frostline doctor`: what it finds out of a machine, its checks, and their
// table.
#ifndef FROSTLINE_CLI_DOCTOR_DOCTOR_H_
#define FROSTLINE_CLI_DOCTOR_DOCTOR_H_

#include <google/protobuf/struct.pb.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/context/configuration.h"
#include "cli/process/child_process.h"
#include "cli/term/terminal.h"

namespace frostline::cli::doctor {

// The slow facts: programs are run and a coordinator is asked, all at once and
// each with a time limit. Checks judge the results.

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

// The checks of `frostline doctor`. A check judges facts and changes nothing. A
// new check is a function here and a line of the table in doctor.cc.

enum class CheckStatus { kOk, kWarn, kCritical, kSkipped };

// Returns "ok", "warn", "critical" or "skipped".
std::string NameOf(CheckStatus status);

// The result of one check.
struct Finding {
  CheckStatus status = CheckStatus::kOk;
  std::string detail = {};
  std::string fix = {};  // empty only when the status is kOk
  // The whole detail, for programs, if `detail` is shortened for people; else
  // empty.
  std::string in_full = {};
};

// What the caller asked for: folders, ports and so on that are to be checked.
struct Asked {
  std::string version;  // of this program
  std::string data = "frost";
  bool data_is_named = false;
  std::string runs = "frostline-runs";
  std::string cache;
  std::string registry = "registry";
  std::vector<int> ports = {7070};
  int slots = 1;
};

// Everything that a check may look at.
struct CheckInput {
  const Machine& machine;
  const Asked& asked;
  const Facts& facts;
  const Configuration& configuration;
  const absl::Status& configured;
};

// These are defined in checks.cc.
Finding CheckVersions(const CheckInput& input);
Finding CheckLibraries(const CheckInput& input);

// These are defined in checks.cc.
Finding CheckSpeed(const CheckInput& input);
Finding CheckGpu(const CheckInput& input);

// These are defined in checks.cc.
Finding CheckProcessor(const CheckInput& input);
Finding CheckMemory(const CheckInput& input);
Finding CheckDescriptors(const CheckInput& input);
Finding CheckPorts(const CheckInput& input);

// These are defined in checks.cc.
Finding CheckDisk(const CheckInput& input);
Finding CheckFileSystem(const CheckInput& input);
Finding CheckWriteRights(const CheckInput& input);
Finding CheckRegistry(const CheckInput& input);

// These are defined in checks.cc.
Finding CheckConfiguration(const CheckInput& input);
Finding CheckCoordinator(const CheckInput& input);
Finding CheckProtocol(const CheckInput& input);
Finding CheckClock(const CheckInput& input);

struct NamedFinding {
  std::string name;
  Finding finding;
};

// Returns the names of all checks in the order of the table.
std::vector<std::string> CheckNames();

// Runs the named checks, or all when `only` is empty. The results hold no
// secrets. REQUIRES: `only` are names of checks.
std::vector<NamedFinding> Examine(const CheckInput& input,
                                  const std::vector<std::string>& only);

bool HasCritical(const std::vector<NamedFinding>& findings);

// Returns the findings for JSON: {"checks": [{"name": …, "status": …, "detail":
// …, "fix": …}]}
google::protobuf::Struct MessageOf(const std::vector<NamedFinding>& findings);

// Returns the findings as text: a line each, the fix below each problem, and a
// summary.
std::string Render(const std::vector<NamedFinding>& findings,
                   const Terminal& terminal);

}  // namespace frostline::cli::doctor

namespace frostline::cli {

void AddDoctorCommand(CLI::App& app, Invocation& invocation);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DOCTOR_DOCTOR_H_
