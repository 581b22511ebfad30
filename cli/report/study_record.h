// SPDX-License-Identifier: Apache-2.0
//
// File: study_record.h
//
// All that a report of a study is made of, as the coordinator said it. A report
// is always made from a record's text, so that a text that was kept gives the
// same report again, to the byte.
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
#include "cli/client/client.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

// What all kinds of records have in common: messages as JSON, and a version.

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

struct StudyRecord {
  v1::Study study;
  v1::ListTrialsReply trials;  // in the FULL view, by number
  // Of the best trials, by their numbers.
  std::map<std::int64_t, v1::ListMeasurementsReply> curves;
  std::optional<v1::ImportanceReport> importance;
  std::optional<v1::FreezePlan> plan;
  std::optional<v1::Frontier> frontier;
  std::optional<v1::PlanVerification> verification;
  std::vector<std::string> missing;  // why a part is not there, a sentence each
};

// Writes JSON that says its version.
std::string ToText(const StudyRecord& record);

// Answers REQUEST_INVALID for a text that is no record, or one of a later
// version of Frostline.
absl::StatusOr<StudyRecord> ReadRecord(const std::string& text);

// Asks the coordinator for everything about "studies/ID". What cannot be said
// of the study yet (too few trials for a plan) is noted in `missing`; any other
// error ends it.
absl::StatusOr<StudyRecord> FetchRecord(Client& client,
                                        const std::string& study,
                                        double tolerance);

// The same without what is computed of a search: importance, plan, frontier.
absl::StatusOr<StudyRecord> FetchTrialsRecord(Client& client,
                                              const std::string& study);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_STUDY_RECORD_H_
