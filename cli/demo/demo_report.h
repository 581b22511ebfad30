// SPDX-License-Identifier: Apache-2.0
//
// File: demo_report.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_REPORT_H_
#define FROSTLINE_CLI_DEMO_DEMO_REPORT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "frostline/v1/importance.pb.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// Answers nullopt where trials are too few or too equal for a plan. Lines are
// cut at `width` columns (0: never).
absl::StatusOr<std::optional<v1::FreezePlan>> ReportDemo(Client& client,
                                                         const v1::Study& study,
                                                         int width);

// The study of next.yaml.
inline constexpr char kNextStudy[] = "demo-next";

// Writes next.yaml, which searches what the plan leaves, into `folder`.
absl::Status WriteNext(const v1::FreezePlan& plan, const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_REPORT_H_
