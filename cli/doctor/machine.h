// SPDX-License-Identifier: Apache-2.0
//
// File: machine.h
//
// All that the doctor sees of this machine goes through here, so that a test
// can show it another one.
#ifndef FROSTLINE_CLI_DOCTOR_MACHINE_H_
#define FROSTLINE_CLI_DOCTOR_MACHINE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "cli/process/captured.h"

namespace frostline::cli::doctor {

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

}  // namespace frostline::cli::doctor

#endif  // FROSTLINE_CLI_DOCTOR_MACHINE_H_
