// SPDX-License-Identifier: Apache-2.0
//
// File: schema.h
//
// JSON Schema (draft 2020-12), indented. Unknown keys are refused. A field that
// is not served yet counts as unknown, because the coordinator refuses it.
#ifndef FROSTLINE_CLI_CONTRACT_SCHEMA_H_
#define FROSTLINE_CLI_CONTRACT_SCHEMA_H_

#include <google/protobuf/descriptor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/json.h"

namespace frostline::cli {

// The schema of single values. The form says where a value stands: in a study
// file, where YAML accepts numbers for text and enum names in any case, or in
// the contract's JSON.

enum class SchemaForm { kStudyFile, kJson };

// Returns a schema that accepts any of `schemas`; a single one is returned
// itself.
std::string AnyOf(const std::vector<std::string>& schemas);

// Returns whether this is a type of Protobuf's own that JSON writes as a value.
bool IsGoogleType(const google::protobuf::Descriptor& type);

// Returns the schema of such a type. REQUIRES: IsGoogleType.
std::string GoogleSchema(const google::protobuf::Descriptor& type,
                         SchemaForm form);
// Returns the schema of one value of a field that is not a message.
std::string ScalarSchema(const google::protobuf::FieldDescriptor& field,
                         SchemaForm form);

struct NumberBounds {
  std::optional<double> least;
  std::optional<double> most;
};

// Returns the bounds that a coordinator puts on a number in a study file, as
// far as the number alone decides. A missing number means its default and may
// be written as 0.
NumberBounds BoundsOf(const google::protobuf::FieldDescriptor& field);

// A builder of a schema's "$defs": one definition for each message that is
// referred to.
class SchemaDefinitions {
 public:
  explicit SchemaDefinitions(SchemaForm form) : form_(form) {}

  // Returns the schema of all values of a field, including lists and short
  // forms.
  std::string Field(const google::protobuf::FieldDescriptor& field);
  // Returns a reference to the message's definition, and adds the definition if
  // it is new.
  std::string Message(const google::protobuf::Descriptor& type);
  // Adds the served fields of `type`, each with its description.
  void AddProperties(const google::protobuf::Descriptor& type,
                     JsonObject* properties);

  std::string Json() const;

 private:
  std::string OneValue(const google::protobuf::FieldDescriptor& field);
  std::string Definition(const google::protobuf::Descriptor& type);
  std::string Object(const google::protobuf::Descriptor& type);
  // Returns the schema of the lists that may stand for `type`, or "" if none
  // may.
  std::string ListFor(const google::protobuf::Descriptor& type);
  std::string NamedStrategies(const google::protobuf::Descriptor& type);

  const SchemaForm form_;
  std::map<std::string, std::string> made_;
};

// Returns schemas which say that no two of these keys may appear together.
std::vector<std::string> Exclusive(const std::vector<std::string>& keys);

// Returns the schema of a study file with its short forms
// (study_file/yaml_sugar.h).
std::string StudyFileSchema();

// Returns the schema of a message as --json writes it and `frostline rpc` takes
// it.
std::string MessageSchema(const google::protobuf::Descriptor& type);

// Breaks JSON without blanks into indented lines. REQUIRES: it is valid.
std::string IndentJson(const std::string& json);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_SCHEMA_H_
