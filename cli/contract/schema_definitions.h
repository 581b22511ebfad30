// SPDX-License-Identifier: Apache-2.0
//
// File: schema_definitions.h
//
// The "$defs" of a schema: one for each message that is named, found on the
// way.
#ifndef FROSTLINE_CLI_CONTRACT_SCHEMA_DEFINITIONS_H_
#define FROSTLINE_CLI_CONTRACT_SCHEMA_DEFINITIONS_H_

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>
#include <vector>

#include "cli/contract/schema_value.h"

namespace frostline::cli {

class SchemaDefinitions {
 public:
  explicit SchemaDefinitions(SchemaForm form) : form_(form) {}

  // Of all values that a field may have, lists and short forms included.
  std::string Field(const google::protobuf::FieldDescriptor& field);
  // A reference to the message's definition, which is made when it is new.
  std::string Message(const google::protobuf::Descriptor& type);
  // The members of `type` that are served, each described.
  void AddProperties(const google::protobuf::Descriptor& type,
                     SchemaObject* properties);

  std::string Json() const;

 private:
  std::string OneValue(const google::protobuf::FieldDescriptor& field);
  std::string Definition(const google::protobuf::Descriptor& type);
  std::string Object(const google::protobuf::Descriptor& type);
  // The lists that may stand for `type`; empty when none may.
  std::string ListFor(const google::protobuf::Descriptor& type);
  std::string NamedStrategies(const google::protobuf::Descriptor& type);

  const SchemaForm form_;
  std::map<std::string, std::string> made_;
};

// Says that no two of these keys may stand beside each other.
std::vector<std::string> Exclusive(const std::vector<std::string>& keys);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_SCHEMA_DEFINITIONS_H_
