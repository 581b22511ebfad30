// SPDX-License-Identifier: Apache-2.0
//
// File: schema.h
//
// JSON Schema, draft 2020-12, indented. Unknown keys are refused, and what is
// not served yet counts as unknown, since the coordinator refuses it.
#ifndef FROSTLINE_CLI_CONTRACT_SCHEMA_H_
#define FROSTLINE_CLI_CONTRACT_SCHEMA_H_

#include <google/protobuf/descriptor.h>

#include <string>

namespace frostline::cli {

// Of a study file, with its short forms (study_file/yaml_sugar.h).
std::string StudyFileSchema();

// Of a message as --json writes it and `frostline rpc` takes it.
std::string MessageSchema(const google::protobuf::Descriptor& type);

// Breaks JSON without blanks into lines. REQUIRES: it is valid.
std::string IndentJson(const std::string& json);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_SCHEMA_H_
