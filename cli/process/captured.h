// SPDX-License-Identifier: Apache-2.0
//
// File: captured.h
//
// Runs another program to its end and keeps what it said. Its words go to it as
// they are: no shell reads them.
//
//   const auto ran = RunCaptured({"sbatch", "--parsable", path}, kMinute);
#ifndef FROSTLINE_CLI_PROCESS_CAPTURED_H_
#define FROSTLINE_CLI_PROCESS_CAPTURED_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::cli {

struct Captured {
  int code = -1;  // 128 and the signal's number when one ended it
  std::string out;
  std::string err;
};

// Looks for words[0] in the PATH. Standard input is empty. Answers NOT_FOUND
// where there is no such program, DEADLINE_EXCEEDED when it has not ended after
// `longest` (it is then killed), RESOURCE_EXHAUSTED beyond 64 MiB of output,
// and INTERNAL with the system's reason. REQUIRES: words is not empty.
//
// One that says `last_words` on its standard error is waited for no longer, but
// killed: 137 is its code.
absl::StatusOr<Captured> RunCaptured(const std::vector<std::string>& words,
                                     Duration longest,
                                     const std::string& last_words = "");

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_CAPTURED_H_
