// SPDX-License-Identifier: Apache-2.0
#include "cli/report/study_record.h"

#include <google/protobuf/util/json_util.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"

namespace frostline::cli {

using google::protobuf::Message;
using google::protobuf::Struct;
using google::protobuf::Value;

std::string RecordJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto written =
      google::protobuf::util::MessageToJsonString(message, &json, options);
  return written.ok() ? json : "{}";
}

JsonObject BeginRecord(const RecordKind& kind) {
  JsonObject record;
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): every kind has one
  record.Put(kind.version_key, std::to_string(kind.version));
  return record;
}

absl::Status NoRecord(const RecordKind& kind, const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("this is no record of ", kind.what, ": ", why),
                   absl::StrCat("make one with `", kind.make, "`"));
}

absl::StatusOr<Struct> ReadRecordStruct(const RecordKind& kind,
                                        const std::string& text) {
  Struct all;
  const auto parsed = google::protobuf::util::JsonStringToMessage(text, &all);
  if (!parsed.ok()) return NoRecord(kind, std::string(parsed.message()));
  const auto found = all.fields().find(kind.version_key);
  if (found == all.fields().end()) {
    return NoRecord(kind, absl::StrCat("it has no \"", kind.version_key, "\""));
  }
  if (found->second.number_value() <= kind.version) return all;
  return MakeError(ErrorId::kRequestInvalid,
                   "the record is of a later version of Frostline",
                   "read it with that version, or make it again with this one");
}

absl::Status ReadRecordPart(const RecordKind& kind, const Value& value,
                            Message& message) {
  std::string json;
  auto read = google::protobuf::util::MessageToJsonString(value, &json);
  if (read.ok()) {
    read = google::protobuf::util::JsonStringToMessage(json, &message);
  }
  if (read.ok()) return absl::OkStatus();
  return NoRecord(kind, std::string(read.message()));
}

namespace {

const RecordKind& StudyKind() {
  static const auto* const kKind = new RecordKind{
      "frostline_report", 1, "a study", "frostline report STUDY -o FILE.json"};
  return *kKind;
}

absl::Status NoStudyRecord(const std::string& why) {
  return cli::NoRecord(StudyKind(), why);
}

template <typename Part>
void PutPart(const char* key, const std::optional<Part>& part,
             JsonObject& object) {
  if (part) object.Put(key, RecordJson(*part));
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
  JsonObject curves;
  for (const auto& [number, curve] : record.curves) {
    curves.Put(absl::StrCat(number), RecordJson(curve));
  }
  JsonObject all = BeginRecord(StudyKind());
  all.Put("study", RecordJson(record.study))
      .Put("trials", RecordJson(record.trials))
      .Put("curves", curves.Text());
  PutPart("importance", record.importance, all);
  PutPart("plan", record.plan, all);
  PutPart("frontier", record.frontier, all);
  PutPart("verification", record.verification, all);
  all.Put("missing", JsonTexts(record.missing));
  return all.Text() + "\n";
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

namespace {

using Studies = v1::StudyService::Stub;
using Importance = v1::ImportanceService::Stub;

constexpr int kCurves = 10;
constexpr int kPointsOfACurve = 200;

// Returns whether the error is due to the study: too young for this part, of
// another kind, or so easy that all trials did alike.
bool IsOfTheStudy(const absl::Status& status) {
  return HasErrorId(status, ErrorId::kTrialsTooFew) ||
         HasErrorId(status, ErrorId::kTargetConstant) ||
         HasErrorId(status, ErrorId::kRequestInvalid);
}

template <typename Part>
absl::Status Keep(const char* what, absl::StatusOr<Part> answer,
                  std::optional<Part>& part, StudyRecord& record) {
  if (answer.ok()) {
    part = *std::move(answer);
    return absl::OkStatus();
  }
  if (!IsOfTheStudy(answer.status())) return answer.status();
  const std::string why = absl::StrCat(": ", answer.status().message(), ".");
  for (std::string& sentence : record.missing) {
    if (!absl::EndsWith(sentence, why)) continue;  // another reason
    sentence.insert(sentence.size() - why.size(), absl::StrCat(", ", what));
    return absl::OkStatus();
  }
  record.missing.push_back(absl::StrCat("No ", what, why));
  return absl::OkStatus();
}

absl::Status FetchCurves(Client& client, const std::string& study,
                         StudyRecord& record) {
  v1::ListBestTrialsRequest request;
  request.set_name(study);
  request.set_limit(kCurves);
  const auto best = client.Call(&Studies::ListBestTrials, request);
  if (!best.ok()) return absl::OkStatus();  // none has a result yet
  for (const v1::Trial& trial : best->trials()) {
    if (static_cast<int>(record.curves.size()) == kCurves) break;
    v1::ListMeasurementsRequest asked;
    asked.set_name(trial.name());
    asked.set_downsample_to(kPointsOfACurve);
    ASSIGN_OR_RETURN(record.curves[trial.number()],
                     client.Call(&Studies::ListMeasurements, asked));
  }
  return absl::OkStatus();
}

absl::Status FetchImportance(Client& client, const std::string& study,
                             double tolerance, StudyRecord& record) {
  v1::GetReportRequest report;
  report.set_study(study);
  RETURN_IF_ERROR(Keep("importance",
                       client.Call(&Importance::GetReport, report),
                       record.importance, record));
  v1::GetPlanRequest plan;
  plan.set_study(study);
  plan.set_tolerance(tolerance);
  RETURN_IF_ERROR(Keep("plan", client.Call(&Importance::GetPlan, plan),
                       record.plan, record));
  v1::GetFrontierRequest frontier;
  frontier.set_study(study);
  frontier.set_tolerance(tolerance);
  RETURN_IF_ERROR(Keep("frontier",
                       client.Call(&Importance::GetFrontier, frontier),
                       record.frontier, record));
  v1::GetPlanVerificationRequest verification;
  verification.set_study(study);
  const auto verified =
      client.Call(&Importance::GetPlanVerification, verification);
  if (verified.ok()) record.verification = *verified;  // else none was run
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StudyRecord> FetchTrialsRecord(Client& client,
                                              const std::string& study) {
  StudyRecord record;
  ASSIGN_OR_RETURN(record.study, FetchStudy(client, study));
  ASSIGN_OR_RETURN(record.trials,
                   FetchTrials(client, study, "", v1::TRIAL_VIEW_FULL));
  RETURN_IF_ERROR(FetchCurves(client, study, record));
  return record;
}

absl::StatusOr<StudyRecord> FetchRecord(Client& client,
                                        const std::string& study,
                                        double tolerance) {
  ASSIGN_OR_RETURN(StudyRecord record, FetchTrialsRecord(client, study));
  RETURN_IF_ERROR(FetchImportance(client, study, tolerance, record));
  return record;
}

}  // namespace frostline::cli
