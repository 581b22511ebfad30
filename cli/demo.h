// SPDX-License-Identifier: Apache-2.0
//
// File: demo.h
//
// `frostline demo`: a whole search on this machine, from an empty folder to the
// importance of each layer, in under a minute.
#ifndef FROSTLINE_CLI_DEMO_H_
#define FROSTLINE_CLI_DEMO_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/exit_code.h"
#include "cli/terminal.h"

namespace frostline {

struct DemoOptions {
  int trials = 40;
  int workers = 2;
  std::string folder;  // empty: a temporary one
  bool keep = false;   // the temporary folder
};

// Everything it started has ended when it returns. CANCELLED after Ctrl-C.
absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal);

}  // namespace frostline

#endif  // FROSTLINE_CLI_DEMO_H_
