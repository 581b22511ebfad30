// SPDX-License-Identifier: Apache-2.0
//
// File: demo.h
//
// `synthetic` trains a small network on made-up numbers instead of MiniLM on
// reviews, and needs neither LibTorch nor a model.
#ifndef FROSTLINE_CLI_DEMO_DEMO_H_
#define FROSTLINE_CLI_DEMO_DEMO_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "cli/term/terminal.h"

namespace frostline::cli {

struct DemoOptions {
  int trials = 0;  // 0: as many as its study says
  int workers = 2;
  std::string folder;  // empty: a temporary one
  bool keep = false;   // the temporary folder
  bool synthetic = false;
  bool example = false;  // leaves a recorded study, too
  std::string model;     // a folder; empty: where ./dev setup puts it
};

// Everything it started has ended when it returns. Ctrl-C is CANCELLED.
absl::StatusOr<ExitCode> RunDemo(const DemoOptions& options,
                                 const Terminal& terminal);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_H_
