// SPDX-License-Identifier: Apache-2.0
//
// File: catalogue.h
//
// What the contract has, and the names by which people find it. Case counts
// nowhere. Descriptors live as long as the program; any thread may call.
#ifndef FROSTLINE_CLI_CONTRACT_CATALOGUE_H_
#define FROSTLINE_CLI_CONTRACT_CATALOGUE_H_

#include <google/protobuf/descriptor.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::cli {

// Messages, fields, enums and their values, services and methods have comments;
// `Declared` is any of their descriptors.

struct CommentRow {
  std::string_view name;  // "frostline.v1.StudySpec.tasks"
  std::string_view text;
};

// Made at build time, sorted by name.
extern const CommentRow kCommentRows[];
extern const std::size_t kCommentCount;

// "" when there is none. Paragraphs have an empty line between them.
std::string CommentNamed(std::string_view full_name);

template <typename Declared>
std::string CommentOf(const Declared& declared) {
  return CommentNamed(declared.full_name());
}

// With its full stop; abbreviations such as "e.g." end none.
std::string FirstSentence(const std::string& comment);

// By service, in the order of the contract.
std::vector<const google::protobuf::MethodDescriptor*> AllMethods();

// Takes "CreateStudy", "StudyService.CreateStudy" and
// "frostline.v1.StudyService/CreateStudy". It answers REQUEST_INVALID, with
// what may have been meant, for any other.
absl::StatusOr<const google::protobuf::MethodDescriptor*> FindMethod(
    const std::string& word);

// A table: which methods there are, whether they are served, what they do.
std::string MethodTable(int max_width);

std::vector<const google::protobuf::Descriptor*> AllMessages();
std::vector<const google::protobuf::EnumDescriptor*> AllEnums();

// Take "StudySpec" and "FreezeSemantics.Mode"; null means none.
const google::protobuf::Descriptor* FindMessage(const std::string& word);
const google::protobuf::EnumDescriptor* FindEnum(const std::string& word);

// "FreezeSemantics.Mode": the name without the package.
template <typename Declared>
std::string ShortNameOf(const Declared& declared) {
  return declared.full_name().substr(declared.file()->package().size() + 1);
}

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_CATALOGUE_H_
