// SPDX-License-Identifier: Apache-2.0
//
// File: catalogue.h
//
// The methods and messages of the contract, and the names by which people find
// them. Names are case-insensitive. Descriptors live as long as the program.
// All functions are thread-safe.
#ifndef FROSTLINE_CLI_CONTRACT_CATALOGUE_H_
#define FROSTLINE_CLI_CONTRACT_CATALOGUE_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::cli {

// The comments of the contract: on messages, fields, enums and their values,
// services and methods. `Declared` is any of their descriptors.

struct CommentRow {
  std::string_view name;  // "frostline.v1.StudySpec.tasks"
  std::string_view text;
};

// All comments, sorted by name; made at build time.
extern const CommentRow kCommentRows[];
extern const std::size_t kCommentCount;

// Returns the comment of this name, or "". A blank line separates paragraphs.
std::string CommentNamed(std::string_view full_name);

template <typename Declared>
std::string CommentOf(const Declared& declared) {
  return CommentNamed(declared.full_name());
}

// Returns the first sentence with its full stop. Abbreviations such as "e.g."
// do not end a sentence.
std::string FirstSentence(const std::string& comment);

// Returns all methods by service, in the order of the contract.
std::vector<const google::protobuf::MethodDescriptor*> AllMethods();

// Finds a method by "CreateStudy", "StudyService.CreateStudy" or
// "frostline.v1.StudyService/CreateStudy". Otherwise returns REQUEST_INVALID
// with a suggestion.
absl::StatusOr<const google::protobuf::MethodDescriptor*> FindMethod(
    const std::string& word);

// Returns a table of all methods: their names, whether they are served, and
// what they do.
std::string MethodTable(int max_width);

std::vector<const google::protobuf::Descriptor*> AllMessages();
std::vector<const google::protobuf::EnumDescriptor*> AllEnums();

// Find a message or an enum by a name such as "StudySpec" or
// "FreezeSemantics.Mode". Return null when there is none.
const google::protobuf::Descriptor* FindMessage(const std::string& word);
const google::protobuf::EnumDescriptor* FindEnum(const std::string& word);

// Returns the name without the package: "FreezeSemantics.Mode".
template <typename Declared>
std::string ShortNameOf(const Declared& declared) {
  return declared.full_name().substr(declared.file()->package().size() + 1);
}

// Parses protobuf's JSON into `request`. Field names are as in the proto or in
// camel case. Comments after "//" are skipped, so that a template can be sent.
// A request that needs a request_id and has none gets a new one. Returns
// REQUEST_INVALID, with the field, for an unknown key, for bad JSON and for a
// bad value; `request` may then be filled in part.
absl::Status ReadRequest(const std::string& json, const Clock& clock,
                         google::protobuf::Message* request);

// Returns the message as a JSON object on one line, with a newline. Field names
// are those of every --json.
std::string ReplyLine(const google::protobuf::Message& message);

// Returns an example request: every field, each after its comment from the
// contract. If fields exclude each other, all but the first are commented out.
std::string RequestTemplate(const google::protobuf::Descriptor& type);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_CATALOGUE_H_
