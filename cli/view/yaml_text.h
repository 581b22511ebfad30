// SPDX-License-Identifier: Apache-2.0
//
// File: yaml_text.h
#ifndef FROSTLINE_CLI_VIEW_YAML_TEXT_H_
#define FROSTLINE_CLI_VIEW_YAML_TEXT_H_

#include <google/protobuf/message.h>

#include <string>

namespace frostline::cli {

// Fields have the proto's names, enum values their full ones; what is not set
// is left out. study_file/ reads a StudySpec back as it was. Text is in quotes
// wherever a reader might take it for a number, a date, yes or no.
std::string ToYaml(const google::protobuf::Message& message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_YAML_TEXT_H_
