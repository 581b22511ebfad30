// SPDX-License-Identifier: Apache-2.0
//
// File: schema.h
//
// JSON Schema, draft 2020-12, indented. Unknown keys are refused, and what is
// not served yet counts as unknown, since the coordinator refuses it.
#ifndef FROSTLINE_CLI_CONTRACT_SCHEMA_H_
#define FROSTLINE_CLI_CONTRACT_SCHEMA_H_

#include <google/protobuf/descriptor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace frostline::cli {

// JSON Schema (draft 2020-12) of single values. A form says where they stand:
// in a study file, whose YAML takes numbers for text and words of a list in any
// case, or in the contract's JSON.

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

struct NumberBounds {
  std::optional<double> least;
  std::optional<double> most;
};

// What a coordinator takes for a number of a study file, as far as one number
// alone decides it. A number that is not given stands for its default, and may
// be written as 0.
NumberBounds BoundsOf(const google::protobuf::FieldDescriptor& field);

// The "$defs" of a schema: one for each message that is named, found on the
// way.

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

// Of a study file, with its short forms (study_file/yaml_sugar.h).
std::string StudyFileSchema();

// Of a message as --json writes it and `frostline rpc` takes it.
std::string MessageSchema(const google::protobuf::Descriptor& type);

// Breaks JSON without blanks into lines. REQUIRES: it is valid.
std::string IndentJson(const std::string& json);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_SCHEMA_H_
