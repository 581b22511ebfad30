// SPDX-License-Identifier: Apache-2.0
//
// File: field_value.h
//
// One YAML value into one field of a message, by the field's type.
#ifndef FROSTLINE_CLI_STUDY_FILE_FIELD_VALUE_H_
#define FROSTLINE_CLI_STUDY_FILE_FIELD_VALUE_H_

#include <google/protobuf/message.h>

#include <optional>
#include <string>

#include "cli/study_file/yaml_tree.h"

namespace frostline::cli {

// What should have been written.
struct Wanted {
  std::string what;  // "a finite number"
  std::string fix;
};

// Sets the field, or adds to it where it is repeated. Nothing: it is done.
// REQUIRES: the field is no message.
std::optional<Wanted> PutScalar(const YamlNode& node,
                                const google::protobuf::FieldDescriptor* field,
                                google::protobuf::Message* message);

// Whether a message is one of protobuf's own that people write as a value:
// Duration ("60s"), Value, ListValue, Struct (anything).
bool IsWellKnown(const google::protobuf::Descriptor& type);

// REQUIRES: IsWellKnown.
std::optional<Wanted> PutWellKnown(const YamlNode& node,
                                   google::protobuf::Message* message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_STUDY_FILE_FIELD_VALUE_H_
