// SPDX-License-Identifier: Apache-2.0
//
// File: field_path.h
#ifndef FROSTLINE_CLI_CONTRACT_FIELD_PATH_H_
#define FROSTLINE_CLI_CONTRACT_FIELD_PATH_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::cli {

// What a path leads to: a field, or with `field` null what it begins with.
struct FieldPlace {
  std::string path;  // in full
  const google::protobuf::FieldDescriptor* field = nullptr;
  // Whose fields stand below; of "study" those of a file's two parts, and of
  // the study itself.
  std::vector<const google::protobuf::Descriptor*> messages;
  const google::protobuf::EnumDescriptor* values = nullptr;
  // Full paths of others of the name, where steps were left out.
  std::vector<std::string> others;
};

// See ExplainPath.
absl::StatusOr<FieldPlace> FindPlace(const std::string& path);

// The message that holds what a field means, through maps; null: a value.
const google::protobuf::Descriptor* MessageBelow(
    const google::protobuf::FieldDescriptor& field);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_FIELD_PATH_H_
