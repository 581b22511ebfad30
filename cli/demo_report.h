// SPDX-License-Identifier: Apache-2.0
//
// File: demo_report.h
//
// What the demo prints at its end: the best trial, what mattered, and what to
// try next.
#ifndef FROSTLINE_CLI_DEMO_REPORT_H_
#define FROSTLINE_CLI_DEMO_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "cli/client.h"
#include "frostline/v1/study.pb.h"

namespace frostline {

// To standard output. `with_next` also writes the study file next.yaml into
// `folder`, where the demo's database and registry are, and shows the commands
// that run it. Lines are cut at `width` columns; 0: never.
absl::Status ReportDemo(Client& client, const v1::Study& study,
                        const std::string& folder, bool with_next, int width);

}  // namespace frostline

#endif  // FROSTLINE_CLI_DEMO_REPORT_H_
