// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/export_verb.h"

#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/ids.h"
#include "frostline/v1/study_service.pb.h"
#include "google/protobuf/util/json_util.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

void AddJsonLine(const google::protobuf::Message& message, std::string& out) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  // This cannot fail: it is our own message, without Any and with valid text.
  (void)google::protobuf::util::MessageToJsonString(message, &line, options);
  absl::StrAppend(&out, line, "\n");
}

// Returns a cell, quoted if it must be. A cell that a spreadsheet would run as
// a formula becomes plain text.
std::string Cell(std::string text) {
  const bool formula =
      !text.empty() && (text[0] == '=' || text[0] == '@' || text[0] == '+' ||
                        text[0] == '\t' || text[0] == '\r');
  if (formula) text = absl::StrCat("'", text);
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// Returns the shortest text that reads back as the same number.
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

namespace {

constexpr int kRowsAtOnce = 500;
constexpr int kStepsAtOnce = 500;

}  // namespace

void ExportVerb::AddTo(VerbTable& table) {
  using Request = v1::ExportTrialsRequest;
  using Chunks = std::vector<v1::ExportChunk>;
  const auto begin = [this](const CallContext& caller, Request request) {
    auto progress = std::make_shared<Progress>();
    progress->request = std::move(request);
    progress->cancelled = caller.cancelled;
    return [this, caller, progress](Reply<Chunks> reply) {
      if (progress->over && progress->pending.empty()) return reply(Chunks());
      calls_.Read<std::string>(
          caller, {progress->request.name()},
          [reply = std::move(reply)](absl::StatusOr<std::string> data) mutable {
            if (!data.ok()) return reply(data.status());
            if (data->empty()) return reply(Chunks());
            Chunks chunks(1);
            chunks[0].set_data(*std::move(data));
            reply(std::move(chunks));
          },
          [this, progress](const std::vector<StudyHandle>& studies,
                           Reply<std::string> answer) {
            answer(NextChunk(studies[0], *progress));
          });
    };
  };
  table.streams.emplace(
      "frostline.v1.StudyService.ExportTrials",
      MakeStreamVerb<Request, v1::ExportChunk>(CallerRole::kViewer, begin));
}

absl::StatusOr<std::string> ExportVerb::NextChunk(const StudyHandle& study,
                                                  Progress& progress) const {
  if (progress.request.format() == v1::ExportTrialsRequest::OPTUNA_JOURNAL) {
    return MakeError(ErrorId::kMethodNotBuilt,
                     "the journal format is not served yet",
                     "export JSON_LINES or CSV", "format");
  }
  RETURN_IF_ERROR(Write(study, progress));
  if (progress.pending.size() <= kMostChunkBytes) {
    return std::exchange(progress.pending, {});
  }
  std::string chunk = progress.pending.substr(0, kMostChunkBytes);
  progress.pending.erase(0, kMostChunkBytes);
  return chunk;
}

absl::Status ExportVerb::Write(const StudyHandle& study,
                               Progress& progress) const {
  ASSIGN_OR_RETURN(
      const TrialFilter filter,
      TrialFilter::Parse(progress.request.filter(), NamesOf(*study.checked)));
  const bool csv = progress.request.format() == v1::ExportTrialsRequest::CSV;
  if (!std::exchange(progress.begun, true) && csv) {
    progress.pending = CsvHeader(*study.checked);
  }
  while (progress.pending.size() < kMostChunkBytes) {
    if (progress.next < progress.rows.size()) {
      if (filter.Matches(progress.rows[progress.next])) {
        RETURN_IF_ERROR(WriteTrial(study, progress));
      }
      // If only a part of a curve fitted, it goes on in the next chunk.
      if (!progress.in_curve) ++progress.next;
      continue;
    }
    if (progress.over) return absl::OkStatus();
    if (progress.cancelled != nullptr && *progress.cancelled) {
      return absl::CancelledError("the caller has hung up");
    }
    ASSIGN_OR_RETURN(progress.rows, store_.ListTrials({.study = study.key,
                                                       .after = progress.after,
                                                       .limit = kRowsAtOnce}));
    progress.next = 0;
    progress.over = progress.rows.size() < kRowsAtOnce;
    if (!progress.rows.empty()) progress.after = progress.rows.back().number;
  }
  return absl::OkStatus();
}

absl::Status ExportVerb::WriteTrial(const StudyHandle& study,
                                    Progress& progress) const {
  const storage::TrialRow& row = progress.rows[progress.next];
  if (progress.in_curve) return WriteCurve(study, progress);
  if (progress.request.format() == v1::ExportTrialsRequest::CSV) {
    AddCsvLine(row, *study.checked, progress.pending);
    return absl::OkStatus();
  }
  AddTrialLine(row, study.id, *study.checked, progress.pending);
  if (!progress.request.with_measurements()) return absl::OkStatus();
  progress.in_curve = true;
  progress.after_step = -1;
  return WriteCurve(study, progress);
}

absl::Status ExportVerb::WriteCurve(const StudyHandle& study,
                                    Progress& progress) const {
  const storage::TrialRow& row = progress.rows[progress.next];
  const std::string name = TrialNameOf(study.id, row.number);
  while (progress.pending.size() < kMostChunkBytes) {
    ASSIGN_OR_RETURN(const std::vector<Measurement> page,
                     store_.ListMeasurements({.study = row.study,
                                              .number = row.number,
                                              .attempt = row.attempt,
                                              .after_step = progress.after_step,
                                              .limit = kStepsAtOnce}));
    for (const Measurement& measured : page) {
      AddMeasurementLine(row, name, measured, progress.pending);
      progress.after_step = measured.step;
      if (progress.pending.size() >= kMostChunkBytes) return absl::OkStatus();
    }
    if (page.size() < kStepsAtOnce) {
      progress.in_curve = false;
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

}  // namespace frostline::server
