// SPDX-License-Identifier: Apache-2.0
#include "cli/report/study_record.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/json_text.h"
#include "base/status_macros.h"

namespace frostline::cli {
namespace {

using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr char kVersionKey[] = "frostline_report";
constexpr int kVersion = 1;

std::string Json(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto written =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  return written.ok() ? json : "{}";
}

absl::Status NoRecord(const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("this is no record of a study: ", why),
                   "make one with `frostline report STUDY -o FILE.json`");
}

template <typename Part>
void Append(const char* key, const std::optional<Part>& part,
            std::string& text) {
  if (part) absl::StrAppend(&text, ",\n\"", key, "\": ", Json(*part));
}

absl::Status Read(const Value& value, Message& message) {
  std::string json;
  auto read = google::protobuf::util::MessageToJsonString(value, &json);
  if (read.ok()) {
    read = google::protobuf::util::JsonStringToMessage(json, &message);
  }
  if (read.ok()) return absl::OkStatus();
  return NoRecord(std::string(read.message()));
}

template <typename Part>
absl::Status ReadPart(const Struct& all, const char* key,
                      std::optional<Part>& part) {
  const auto found = all.fields().find(key);
  if (found == all.fields().end()) return absl::OkStatus();
  return Read(found->second, part.emplace());
}

absl::Status ReadCurves(const Struct& all, StudyRecord& record) {
  const auto found = all.fields().find("curves");
  if (found == all.fields().end()) return absl::OkStatus();
  for (const auto& [number, curve] : found->second.struct_value().fields()) {
    std::int64_t trial = 0;
    if (!absl::SimpleAtoi(number, &trial)) return NoRecord("a curve of none");
    RETURN_IF_ERROR(Read(curve, record.curves[trial]));
  }
  return absl::OkStatus();
}

absl::Status CheckVersion(const Struct& all) {
  const auto found = all.fields().find(kVersionKey);
  if (found == all.fields().end()) {
    return NoRecord(absl::StrCat("it has no \"", kVersionKey, "\""));
  }
  if (found->second.number_value() <= kVersion) return absl::OkStatus();
  return MakeError(ErrorId::kRequestInvalid,
                   "the record is of a later version of Frostline",
                   "read it with that version, or make it again with this one");
}

}  // namespace

std::string ToText(const StudyRecord& record) {
  std::string text = absl::StrCat("{\"", kVersionKey, "\": ", kVersion,
                                  ",\n\"study\": ", Json(record.study),
                                  ",\n\"trials\": ", Json(record.trials));
  std::string curves;
  for (const auto& [number, curve] : record.curves) {
    absl::StrAppend(&curves, curves.empty() ? "" : ",\n", "\"", number,
                    "\": ", Json(curve));
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
  Struct all;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &all);
  if (!parsed.ok()) return NoRecord(std::string(parsed.message()));
  RETURN_IF_ERROR(CheckVersion(all));
  StudyRecord record;
  std::optional<v1::Study> study;
  std::optional<v1::ListTrialsReply> trials;
  RETURN_IF_ERROR(ReadPart(all, "study", study));
  RETURN_IF_ERROR(ReadPart(all, "trials", trials));
  if (!study || !trials) return NoRecord("it has no study, or no trials");
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
