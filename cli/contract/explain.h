// SPDX-License-Identifier: Apache-2.0
//
// File: explain.h
#ifndef FROSTLINE_CLI_CONTRACT_EXPLAIN_H_
#define FROSTLINE_CLI_CONTRACT_EXPLAIN_H_

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

// Says what the contract says of a field, a message, an enum or a method, in
// lines of `width` columns. A path begins with a message,
// "StudySettings.budget"; "study" is a study file and the study that comes of
// it. Steps in between may be left out: "study.space.levels",
// and so may "study" before a key of its file: "space.modules". It answers
// REQUEST_INVALID, with what may have been meant, for what there is not.
absl::StatusOr<std::string> ExplainPath(const std::string& path, int width);

// The names and types of all that is below, as a tree.
absl::StatusOr<std::string> ExplainTree(const std::string& path);

// The page of "FL-2001" in docs/reference/errors.md, with its exit code.
absl::StatusOr<std::string> ExplainError(const std::string& id, int width);
bool IsErrorId(const std::string& word);

// docs/reference/errors.md, as it was when the program was built.
extern const char kErrorPages[];

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_EXPLAIN_H_
