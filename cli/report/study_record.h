// SPDX-License-Identifier: Apache-2.0
//
// File: study_record.h
//
// The data of a study's report, as the coordinator sent it. A report is always
// made from a record's text, so that a saved text gives the same report again,
// byte for byte.
#ifndef FROSTLINE_CLI_REPORT_STUDY_RECORD_H_
#define FROSTLINE_CLI_REPORT_STUDY_RECORD_H_

#include <google/protobuf/message.h>
#include <google/protobuf/struct.pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/plain/json.h"
#include "cli/client/client.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// The part that all kinds of records share: messages as JSON, and a version.

// A kind of record: the key of its version, the latest version that can be
// read, and the words for error messages.
struct RecordKind {
  std::string version_key;
  int version = 1;
  std::string what;  // "a study"
  std::string make;  // "frostline report STUDY -o FILE.json"
};

// Returns the message as JSON on one line, with the proto's field names, or
// "{}" on failure.
std::string RecordJson(const google::protobuf::Message& message);

// Begins a record with its version.
JsonObject BeginRecord(const RecordKind& kind);

// Returns REQUEST_INVALID: the text is not a record of this kind.
absl::Status NoRecord(const RecordKind& kind, const std::string& why);

// Parses a record's text and checks that its version can be read here.
absl::StatusOr<google::protobuf::Struct> ReadRecordStruct(
    const RecordKind& kind, const std::string& text);

// Parses a part of a record into the message that it came from.
absl::Status ReadRecordPart(const RecordKind& kind,
                            const google::protobuf::Value& value,
                            google::protobuf::Message& message);

// The data of a study's report.
struct StudyRecord {
  v1::Study study;
  v1::ListTrialsReply trials;  // in the FULL view, by number
  // The curves of the best trials, by the number of the trial.
  std::map<std::int64_t, v1::ListMeasurementsReply> curves;
  std::optional<v1::ImportanceReport> importance;
  std::optional<v1::FreezePlan> plan;
  std::optional<v1::Frontier> frontier;
  std::optional<v1::PlanVerification> verification;
  std::vector<std::string> missing;  // sentences that say why a part is missing
};

// Returns the record as JSON with its version.
std::string ToText(const StudyRecord& record);

// Parses a record. Returns REQUEST_INVALID for a text that is not a record or
// that a later version of Frostline wrote.
absl::StatusOr<StudyRecord> ReadRecord(const std::string& text);

// Fetches all data about "studies/ID" from the coordinator. What cannot be
// computed yet (too few trials for a plan) is noted in `missing`; any other
// error ends it.
absl::StatusOr<StudyRecord> FetchRecord(Client& client,
                                        const std::string& study,
                                        double tolerance);

// Does the same without importance, plan and frontier, which are computed from
// a search.
absl::StatusOr<StudyRecord> FetchTrialsRecord(Client& client,
                                              const std::string& study);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_STUDY_RECORD_H_
