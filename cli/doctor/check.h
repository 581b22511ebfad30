// SPDX-License-Identifier: Apache-2.0
//
// File: check.h
//
// The checks of `frostline doctor`. A check judges facts and changes nothing. A
// new check is a function here and a line of the table in doctor.cc.
#ifndef FROSTLINE_CLI_DOCTOR_CHECK_H_
#define FROSTLINE_CLI_DOCTOR_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/context/configuration.h"
#include "cli/doctor/facts.h"

namespace frostline::cli::doctor {

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
struct Patient {
  const Machine& machine;
  const Asked& asked;
  const Facts& facts;
  const Configuration& configuration;
  const absl::Status& configured;
};

// These are defined in program_checks.cc.
Finding CheckVersions(const Patient& patient);
Finding CheckLibraries(const Patient& patient);

// These are defined in checks.cc.
Finding CheckSpeed(const Patient& patient);
Finding CheckGpu(const Patient& patient);

// These are defined in checks.cc.
Finding CheckProcessor(const Patient& patient);
Finding CheckMemory(const Patient& patient);
Finding CheckDescriptors(const Patient& patient);
Finding CheckPorts(const Patient& patient);

// These are defined in checks.cc.
Finding CheckDisk(const Patient& patient);
Finding CheckFileSystem(const Patient& patient);
Finding CheckWriteRights(const Patient& patient);
Finding CheckRegistry(const Patient& patient);

// These are defined in program_checks.cc.
Finding CheckConfiguration(const Patient& patient);
Finding CheckCoordinator(const Patient& patient);
Finding CheckProtocol(const Patient& patient);
Finding CheckClock(const Patient& patient);

}  // namespace frostline::cli::doctor

#endif  // FROSTLINE_CLI_DOCTOR_CHECK_H_
