// SPDX-License-Identifier: Apache-2.0
//
// File: json_text.h
//
// Protobuf's own writer takes a list of thousands of trials the better part of
// a second, because it goes by way of the wire format. This one reads messages
// as they are, and writes the same lines: fields in the order of the contract,
// where protobuf puts times last, and keys of maps in that of the alphabet.
// What it does not know (wrappers, unknown enum values) it leaves to
// protobuf's.
#ifndef FROSTLINE_CLI_VIEW_JSON_TEXT_H_
#define FROSTLINE_CLI_VIEW_JSON_TEXT_H_

#include <google/protobuf/message.h>

#include <string>

namespace frostline::cli {

// One line and its newline, without blanks. Format.h has ToJson().
std::string ToJsonLine(const google::protobuf::Message& message);

// What protobuf's writer says; tests compare with it.
std::string ProtobufJson(const google::protobuf::Message& message,
                         bool indented);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_JSON_TEXT_H_
