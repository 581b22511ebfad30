// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/export_lines.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "frostline/v1/study_service.pb.h"
#include "google/protobuf/util/json_util.h"
#include "server/wire/convert.h"
#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

void AddJsonLine(const google::protobuf::Message& message, std::string& out) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  // Our own message, with no Any and valid text: it can be printed.
  (void)google::protobuf::util::MessageToJsonString(message, &line, options);
  absl::StrAppend(&out, line, "\n");
}

// Quoted where it must be. A cell that a spreadsheet would run as a formula
// becomes plain text.
std::string Cell(std::string text) {
  const bool formula =
      !text.empty() && (text[0] == '=' || text[0] == '@' || text[0] == '+' ||
                        text[0] == '\t' || text[0] == '\r');
  if (formula) text = absl::StrCat("'", text);
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// Shortest text that reads back as the same number.
std::string Number(double value) {
  std::string text = absl::StrCat(value);
  if (std::strtod(text.c_str(), nullptr) != value) {
    text = absl::StrFormat("%.17g", value);
  }
  return text;
}

}  // namespace

std::string CsvHeader(const CheckedStudy& study) {
  std::string line = "number,state,origin,attempt,worker,train_seconds";
  for (const Objective& objective : study.objectives) {
    absl::StrAppend(&line, ",", Cell(objective.metric));
  }
  for (const Parameter& parameter : study.space.parameters()) {
    absl::StrAppend(&line, ",", Cell(parameter.name));
  }
  return line + ",cause,seed\n";
}

void AddCsvLine(const storage::TrialRow& row, const CheckedStudy& study,
                std::string& out) {
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  absl::StrAppend(&out, row.number, ",", NameOf(row.state), ",",
                  v1::TrialOrigin_Name(static_cast<int>(row.origin)).substr(13),
                  ",", row.attempt, ",", Cell(row.worker), ",",
                  Number(usage.train_seconds()));
  for (std::size_t i = 0; i < study.objectives.size(); ++i) {
    const bool has = i < row.values.size();
    absl::StrAppend(&out, ",", has ? Number(row.values[i]) : "");
  }
  for (std::size_t i = 0; i < row.point.size(); ++i) {
    const bool has = !IsAbsent(row.point[i]);
    const Domain& domain = study.space.parameters()[i].domain;
    absl::StrAppend(&out, ",",
                    has ? Cell(FormatValue(domain, row.point[i])) : "");
  }
  const std::uint64_t seed = NotedSeedOf(row).seed;
  absl::StrAppend(&out, ",", Cell(row.cause), ",",
                  seed == 0 ? "" : absl::StrCat(seed), "\n");
}

void AddTrialLine(const storage::TrialRow& row, const std::string& study_id,
                  const CheckedStudy& study, std::string& out) {
  AddJsonLine(TrialToProto(row, study_id, study.space, v1::TRIAL_VIEW_FULL, {}),
              out);
}

void AddMeasurementLine(const storage::TrialRow& row, const std::string& trial,
                        const Measurement& measured, std::string& out) {
  v1::ListMeasurementsReply line;
  line.set_attempt(row.attempt);
  *line.add_measurements() = MeasurementToProto(measured);
  std::string json;
  AddJsonLine(line, json);
  absl::StrAppend(&out, "{\"trial\":\"", trial, "\",", json.substr(1));
}

}  // namespace frostline::server
