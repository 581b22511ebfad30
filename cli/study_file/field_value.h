// SPDX-License-Identifier: Apache-2.0
//
// File: field_value.h
#ifndef FROSTLINE_CLI_STUDY_FILE_FIELD_VALUE_H_
#define FROSTLINE_CLI_STUDY_FILE_FIELD_VALUE_H_

#include <google/protobuf/message.h>

#include <optional>
#include <string>

#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

struct Wanted {
  std::string what;  // "a finite number"
  std::string fix;
};

// Adds to a repeated field. Nothing means that it is done. REQUIRES: the field
// is no message.
std::optional<Wanted> PutScalar(const YamlNode& node,
                                const google::protobuf::FieldDescriptor* field,
                                google::protobuf::Message* message);

// People write these messages of Protobuf as values: Duration ("60s"), Value,
// ListValue, Struct.
bool IsWellKnown(const google::protobuf::Descriptor& type);

// REQUIRES: IsWellKnown.
std::optional<Wanted> PutWellKnown(const YamlNode& node,
                                   google::protobuf::Message* message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_FIELD_VALUE_H_
