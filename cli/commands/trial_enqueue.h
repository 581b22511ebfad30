// SPDX-License-Identifier: Apache-2.0
//
// File: trial_enqueue.h
//
// A file of points to run: a list as the `enqueue` of a study file, also below
// that key, as `frostline study best --yaml` prints it; or a point a line, as
// JSON. A point of single values, without any key of EnqueuedTrial, is its
// values alone.
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
  std::vector<YamlMark> places;  // where each stands
};

// Answers what a study file does, with FILE:LINE:COLUMN; REQUEST_INVALID for a
// file without points.
absl::StatusOr<EnqueuePoints> ParseEnqueuePoints(const std::string& text,
                                                 const std::string& file);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_TRIAL_ENQUEUE_H_
