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

#endif  // FROSTLINE_CLI_CONTRACT_REQUEST_JSON_H_
