// SPDX-License-Identifier: Apache-2.0
//
// File: catalogue.h
//
// What the contract has, and the names by which people find it. Case counts
// nowhere. Descriptors live as long as the program; any thread may call.
#ifndef FROSTLINE_CLI_CONTRACT_CATALOGUE_H_
#define FROSTLINE_CLI_CONTRACT_CATALOGUE_H_

#include <google/protobuf/descriptor.h>

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace frostline::cli {

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
