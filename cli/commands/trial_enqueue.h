// SPDX-License-Identifier: Apache-2.0
//
// File: trial_enqueue.h
//
// A file of points to run. It is a YAML list like `enqueue` in a study file,
// with or without that key, as `frostline study best --yaml` prints it; or JSON
// with one point a line. A point without any key of EnqueuedTrial is just a map
// of values.
#ifndef FROSTLINE_CLI_COMMANDS_TRIAL_ENQUEUE_H_
#define FROSTLINE_CLI_COMMANDS_TRIAL_ENQUEUE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/study_file/yaml_tree.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

struct EnqueuePoints {
  std::vector<v1::EnqueuedTrial> trials;
  std::vector<YamlMark> places;  // the place of each point
};

// Parses such a file. Returns the errors of a study file, with
// FILE:LINE:COLUMN, and REQUEST_INVALID for a file without points.
absl::StatusOr<EnqueuePoints> ParseEnqueuePoints(const std::string& text,
                                                 const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_ENQUEUE_H_
