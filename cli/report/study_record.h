// SPDX-License-Identifier: Apache-2.0
//
// File: study_record.h
//
// All that a report of a study is made of, as the coordinator said it. A report
// is always made from a record's text, so that a text that was kept gives the
// same report again, to the byte.
#ifndef FROSTLINE_CLI_REPORT_STUDY_RECORD_H_
#define FROSTLINE_CLI_REPORT_STUDY_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frostline/v1/importance_service.pb.h"
#include "frostline/v1/study_service.pb.h"

namespace frostline::cli {

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

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_REPORT_STUDY_RECORD_H_
