// SPDX-License-Identifier: Apache-2.0
//
// File: schema_value.h
//
// JSON Schema (draft 2020-12) of single values. A form says where they stand:
// in a study file, whose YAML takes numbers for text and words of a list in any
// case, or in the contract's JSON.
#ifndef FROSTLINE_CLI_CONTRACT_SCHEMA_VALUE_H_
#define FROSTLINE_CLI_CONTRACT_SCHEMA_VALUE_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

namespace frostline::cli {

enum class SchemaForm { kStudyFile, kJson };

// An object is made of these: name and JSON, in their order.
class SchemaObject {
 public:
  SchemaObject& Put(const std::string& key, const std::string& json);
  // Leaves the member out where the text is empty.
  SchemaObject& PutText(const std::string& key, const std::string& text);
  bool empty() const { return members_.empty(); }
  std::string Json() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

std::string SchemaList(const std::vector<std::string>& items);
// The schema itself where there is one, else any of them.
std::string AnyOf(const std::vector<std::string>& schemas);

// Whether JSON writes messages of this type as a value: Protobuf's own.
bool IsGoogleType(const google::protobuf::Descriptor& type);

// REQUIRES: IsGoogleType.
std::string GoogleSchema(const google::protobuf::Descriptor& type,
                         SchemaForm form);
// Of one value of a field that is no message.
std::string ScalarSchema(const google::protobuf::FieldDescriptor& field,
                         SchemaForm form);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_SCHEMA_VALUE_H_
