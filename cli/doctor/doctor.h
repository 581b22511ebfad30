// SPDX-License-Identifier: Apache-2.0
//
// File: doctor.h
#ifndef FROSTLINE_CLI_DOCTOR_DOCTOR_H_
#define FROSTLINE_CLI_DOCTOR_DOCTOR_H_

#include <google/protobuf/struct.pb.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands/command.h"
#include "cli/doctor/check.h"
#include "cli/term/terminal.h"

namespace frostline::cli::doctor {

struct NamedFinding {
  std::string name;
  Finding finding;
};

// Returns the names of all checks in the order of the table.
std::vector<std::string> CheckNames();

// Runs the named checks, or all when `only` is empty. The results hold no
// secrets. REQUIRES: `only` are names of checks.
std::vector<NamedFinding> Examine(const Patient& patient,
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
