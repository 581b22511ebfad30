// SPDX-License-Identifier: Apache-2.0
//
// File: set_field.h
//
// `--set`: values of a command line, written as in a study file.
#ifndef FROSTLINE_CLI_COMMANDS_SET_FIELD_H_
#define FROSTLINE_CLI_COMMANDS_SET_FIELD_H_

#include <google/protobuf/map.h>
#include <google/protobuf/struct.pb.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// Takes "training.epochs=3", "space.modules[0].levels=[0, 2e-5]",
// "labels.team=nlp". The field gets this value instead of its own; it answers
// the error of a study file where there is no such field or value.
absl::Status SetField(const std::string& assignment, v1::StudySpec& spec,
                      v1::StudySettings& settings);

using PointMap = google::protobuf::Map<std::string, google::protobuf::Value>;

// Values by parameter, as "layer.3=2e-5", "layer.0=frozen" (0), "batch=16". A
// choice that is called frozen stands in quotes of its own: 'x="frozen"'.
absl::Status SetPointValues(const std::vector<std::string>& assignments,
                            PointMap& values);

// Labels as words of a command line: KEY=VALUE sets one, KEY- takes it away.
using LabelMap = google::protobuf::Map<std::string, std::string>;

// Changes all or, at a word that is neither or a key named twice, none: a usage
// error. To take away what is not there is no mistake.
absl::Status ChangeLabels(const std::vector<std::string>& words,
                          const std::string& flag, LabelMap& labels);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_SET_FIELD_H_
