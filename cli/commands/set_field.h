// SPDX-License-Identifier: Apache-2.0
//
// File: set_field.h
//
// `--set`: field values on the command line, written as in a study file.
#ifndef FROSTLINE_CLI_COMMANDS_SET_FIELD_H_
#define FROSTLINE_CLI_COMMANDS_SET_FIELD_H_

#include <google/protobuf/map.h>
#include <google/protobuf/struct.pb.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"

namespace frostline::cli {

// Sets a field from "training.epochs=3", "space.modules[0].levels=[0, 2e-5]" or
// "labels.team=nlp". The new value replaces the old one. An unknown field or a
// bad value gives the same error as in a study file.
absl::Status SetField(const std::string& assignment, v1::StudySpec& spec,
                      v1::StudySettings& settings);

using PointMap = google::protobuf::Map<std::string, google::protobuf::Value>;

// Sets values of parameters from "layer.3=2e-5", "layer.0=frozen" (which means
// 0) or "batch=16". A choice whose name is frozen needs quotes: 'x="frozen"'.
absl::Status SetPointValues(const std::vector<std::string>& assignments,
                            PointMap& values);

// Labels on a command line: KEY=VALUE sets one, KEY- removes one.
using LabelMap = google::protobuf::Map<std::string, std::string>;

// Makes all changes, or none and returns a usage error when a word has another
// form or a key is named twice. Removing a label that does not exist is fine.
absl::Status ChangeLabels(const std::vector<std::string>& words,
                          const std::string& flag, LabelMap& labels);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_SET_FIELD_H_
