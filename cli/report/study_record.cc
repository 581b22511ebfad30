// SPDX-License-Identifier: Apache-2.0
#include "cli/report/study_record.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/json.h"
#include "cli/report/record_json.h"

namespace frostline::cli {
namespace {

using google::protobuf::Struct;
using google::protobuf::Value;

const RecordKind& StudyKind() {
  static const auto* const kKind = new RecordKind{
      "frostline_report", 1, "a study", "frostline report STUDY -o FILE.json"};
  return *kKind;
}

absl::Status NoStudyRecord(const std::string& why) {
  return cli::NoRecord(StudyKind(), why);
}

template <typename Part>
void Append(const char* key, const std::optional<Part>& part,
            std::string& text) {
  if (part) absl::StrAppend(&text, ",\n\"", key, "\": ", RecordJson(*part));
}

template <typename Part>
absl::Status ReadPart(const Struct& all, const char* key,
                      std::optional<Part>& part) {
  const auto found = all.fields().find(key);
  if (found == all.fields().end()) return absl::OkStatus();
  return ReadRecordPart(StudyKind(), found->second, part.emplace());
}

absl::Status ReadCurves(const Struct& all, StudyRecord& record) {
  const auto found = all.fields().find("curves");
  if (found == all.fields().end()) return absl::OkStatus();
  for (const auto& [number, curve] : found->second.struct_value().fields()) {
    std::int64_t trial = 0;
    if (!absl::SimpleAtoi(number, &trial))
      return NoStudyRecord("a curve of none");
    RETURN_IF_ERROR(ReadRecordPart(StudyKind(), curve, record.curves[trial]));
  }
  return absl::OkStatus();
}

}  // namespace

std::string ToText(const StudyRecord& record) {
  std::string text =
      absl::StrCat("{\"", StudyKind().version_key, "\": ", StudyKind().version,
                   ",\n\"study\": ", RecordJson(record.study),
                   ",\n\"trials\": ", RecordJson(record.trials));
  std::string curves;
  for (const auto& [number, curve] : record.curves) {
    absl::StrAppend(&curves, curves.empty() ? "" : ",\n", "\"", number,
                    "\": ", RecordJson(curve));
  }
  absl::StrAppend(&text, ",\n\"curves\": {", curves, "}");
  Append("importance", record.importance, text);
  Append("plan", record.plan, text);
  Append("frontier", record.frontier, text);
  Append("verification", record.verification, text);
  std::string missing;
  for (const std::string& sentence : record.missing) {
    absl::StrAppend(&missing, missing.empty() ? "" : ", ",
                    JsonString(sentence));
  }
  return absl::StrCat(text, ",\n\"missing\": [", missing, "]}\n");
}

absl::StatusOr<StudyRecord> ReadRecord(const std::string& text) {
  ASSIGN_OR_RETURN(const Struct all, ReadRecordStruct(StudyKind(), text));
  StudyRecord record;
  std::optional<v1::Study> study;
  std::optional<v1::ListTrialsReply> trials;
  RETURN_IF_ERROR(ReadPart(all, "study", study));
  RETURN_IF_ERROR(ReadPart(all, "trials", trials));
  if (!study || !trials) return NoStudyRecord("it has no study, or no trials");
  record.study = *std::move(study);
  record.trials = *std::move(trials);
  RETURN_IF_ERROR(ReadCurves(all, record));
  RETURN_IF_ERROR(ReadPart(all, "importance", record.importance));
  RETURN_IF_ERROR(ReadPart(all, "plan", record.plan));
  RETURN_IF_ERROR(ReadPart(all, "frontier", record.frontier));
  RETURN_IF_ERROR(ReadPart(all, "verification", record.verification));
  const auto missing = all.fields().find("missing");
  if (missing != all.fields().end()) {
    for (const Value& each : missing->second.list_value().values()) {
      record.missing.push_back(each.string_value());
    }
  }
  return record;
}

}  // namespace frostline::cli
