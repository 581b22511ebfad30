// SPDX-License-Identifier: Apache-2.0
//
// File: request_json.h
#ifndef FROSTLINE_CLI_CONTRACT_REQUEST_JSON_H_
#define FROSTLINE_CLI_CONTRACT_REQUEST_JSON_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "base/clock.h"

namespace frostline::cli {

// Fills `request` from protobuf's JSON, with the fields' names as in the proto
// or in camel case; comments behind "//" are skipped, so that a template can be
// sent. A request that wants a request_id and has none gets a new one. It
// answers REQUEST_INVALID, at the field, for a key that there is not, and for
// what is no JSON or no value of its field; `request` may then be half filled.
absl::Status ReadRequest(const std::string& json, const Clock& clock,
                         google::protobuf::Message* request);

// An object on one line, with its newline; fields as in every --json.
std::string ReplyLine(const google::protobuf::Message& message);

// Writes an example: every field with what the contract says of it first. Of
// fields that exclude each other all but the first are comments.
std::string RequestTemplate(const google::protobuf::Descriptor& type);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTRACT_REQUEST_JSON_H_
