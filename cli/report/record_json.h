// SPDX-License-Identifier: Apache-2.0
//
// File: record_json.h
//
// What all kinds of records have in common: messages as JSON, and a version.
#ifndef FROSTLINE_CLI_REPORT_RECORD_JSON_H_
#define FROSTLINE_CLI_REPORT_RECORD_JSON_H_

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// A kind of record: the key that says its version, the latest that is read
// here, and how mistakes call it and tell to make one.
struct RecordKind {
  std::string version_key;
  int version = 1;
  std::string what;  // "a study"
  std::string make;  // "frostline report STUDY -o FILE.json"
};

// On one line, with the field names of the proto; "{}" where that fails.
std::string RecordJson(const google::protobuf::Message& message);

// REQUEST_INVALID: this is no such record.
absl::Status NoRecord(const RecordKind& kind, const std::string& why);

// The whole of a text, which says a version that is read here.
absl::StatusOr<google::protobuf::Struct> ReadRecordStruct(
    const RecordKind& kind, const std::string& text);

// A part of it as the message that it was.
absl::Status ReadRecordPart(const RecordKind& kind,
                            const google::protobuf::Value& value,
                            google::protobuf::Message& message);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_RECORD_JSON_H_
