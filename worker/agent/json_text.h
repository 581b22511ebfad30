// SPDX-License-Identifier: Apache-2.0
//
// File: json_text.h
//
// Python's json.dumps prints bare NaN, Infinity and -Infinity, which parsers
// refuse. Here they become strings first.
#ifndef FROSTLINE_WORKER_AGENT_JSON_TEXT_H_
#define FROSTLINE_WORKER_AGENT_JSON_TEXT_H_

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace frostline::agent {

// Returns nothing when `text` is no JSON, nests deeper than 8, or is not UTF-8.
std::optional<nlohmann::json> ParseJsonText(const std::string& text);

// Prints one line; bytes that are not UTF-8 become U+FFFD.
std::string PrintJsonText(const nlohmann::json& value);

// Reads a number, or one of those three strings.
std::optional<double> NumberOf(const nlohmann::json& value);

// Prints messages of the contract as JSON for trainers. Unlike in Protobuf's
// own mapping, 64-bit numbers are numbers, an enum is its short lower-case name
// ("hard", "maximize"), and unset fields are absent.

nlohmann::json ToJson(const google::protobuf::Message& message);
nlohmann::json ToJson(const google::protobuf::Value& value);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_JSON_TEXT_H_
