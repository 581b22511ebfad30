// SPDX-License-Identifier: Apache-2.0
//
// File: demo_ways_on.h
//
// What can be typed when the demo has ended: its own coordinator holds the
// folder until then.
#ifndef FROSTLINE_CLI_DEMO_DEMO_WAYS_ON_H_
#define FROSTLINE_CLI_DEMO_DEMO_WAYS_ON_H_

#include <string>

namespace frostline::cli {

struct WaysOn {
  std::string folder;           // of the demo
  bool has_importance = false;  // trials enough for one
  bool has_next = false;        // next.yaml
  bool has_example = false;     // the recorded study
};

// `command` is frostline, as it is typed from here.
std::string WaysOnText(const WaysOn& ways, const std::string& command);

// Prints them.
void ShowWaysOn(const WaysOn& ways);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_WAYS_ON_H_
