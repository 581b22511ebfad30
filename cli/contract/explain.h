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

// The target of a path: a field or, when `field` is null, the message that the
// path begins with.
struct FieldPlace {
  std::string path;  // in full
  const google::protobuf::FieldDescriptor* field = nullptr;
  // The messages whose fields follow below. For "study" these are the two parts
  // of a study file and the study itself.
  std::vector<const google::protobuf::Descriptor*> messages;
  const google::protobuf::EnumDescriptor* values = nullptr;
  // The full paths of other fields with this name, when steps were left out.
  std::vector<std::string> others;
};

// Finds the target of a path; see ExplainPath() for its form.
absl::StatusOr<FieldPlace> FindPlace(const std::string& path);

// Returns the message that is the type of a field, or of a map's values.
// Returns null when the type is not a message.
const google::protobuf::Descriptor* MessageBelow(
    const google::protobuf::FieldDescriptor& field);

// Returns what the contract says about a field, a message, an enum or a method,
// in lines of `width` columns. A path begins with a message:
// "StudySettings.budget". "study" stands for a study file and for the study
// made from it. Steps may be left out ("study.space.levels"), and so may
// "study" before a key of the file ("space.modules"). Returns REQUEST_INVALID,
// with a suggestion, for an unknown path.
absl::StatusOr<std::string> ExplainPath(const std::string& path, int width);

// Returns the names and types of everything below the path, as a tree.
absl::StatusOr<std::string> ExplainTree(const std::string& path);

// Returns the page of an error such as "FL-2001" from docs/reference/errors.md,
// with its exit code.
absl::StatusOr<std::string> ExplainError(const std::string& id, int width);
bool IsErrorId(const std::string& word);

// Returns what the glossary says of a word such as "within", in any case; ""
// for a word that it does not have.
std::string ExplainTerm(const std::string& word, int width);

// The texts of docs/reference/errors.md and docs/glossary.md at build time.
extern const char kErrorPages[];
extern const char kGlossary[];

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_EXPLAIN_H_
