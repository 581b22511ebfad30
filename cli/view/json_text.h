// SPDX-License-Identifier: Apache-2.0
//
// File: json_text.h
//
// A fast JSON writer for messages. Protobuf's own writer needs almost a second
// for a list of thousands of trials, because it converts to the wire format
// first. This one reads messages directly and writes the same lines, but with
// fields in the order of the contract (protobuf writes times last) and the keys
// of maps in alphabetical order. Rare cases (wrappers, unknown enum values) go
// to protobuf's writer.
#ifndef FROSTLINE_CLI_VIEW_JSON_TEXT_H_
#define FROSTLINE_CLI_VIEW_JSON_TEXT_H_

#include <google/protobuf/message.h>

#include <string>

namespace frostline::cli {

// Returns one line with a newline and without blanks. ToJson() is in format.h.
std::string ToJsonLine(const google::protobuf::Message& message);

// Returns the output of protobuf's writer; tests compare with it.
std::string ProtobufJson(const google::protobuf::Message& message,
                         bool indented);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_VIEW_JSON_TEXT_H_
