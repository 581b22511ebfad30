// SPDX-License-Identifier: Apache-2.0
//
// File: proto_json.h
//
// Prints messages of the contract as JSON for trainers. Unlike in Protobuf's
// own mapping, 64-bit numbers are numbers, an enum is its short lower-case name
// ("hard", "maximize"), and unset fields are absent.
#ifndef FROSTLINE_WORKER_AGENT_PROTO_JSON_H_
#define FROSTLINE_WORKER_AGENT_PROTO_JSON_H_

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>

#include <nlohmann/json.hpp>

namespace frostline::agent {

nlohmann::json ToJson(const google::protobuf::Message& message);
nlohmann::json ToJson(const google::protobuf::Value& value);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROTO_JSON_H_
