// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/export_verb.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "google/protobuf/util/json_util.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "server/wire/training_seed.h"
#include "storage/scan.h"

namespace frostline::server {
namespace {

constexpr int kPage = 500;

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

// {"trial": …, "step": …, "metrics": {…}} for every measurement.
absl::Status AddMeasurementLines(const storage::TrialRow& row,
                                 const std::string& name,
                                 const storage::TrialStore& store,
                                 std::string& out) {
  const storage::MeasurementQuery query{
      .study = row.study, .number = row.number, .attempt = row.attempt};
  return storage::ForEachMeasurement(
      store, query, [&](const Measurement& measured) {
        v1::ListMeasurementsReply line;
        line.set_attempt(row.attempt);
        *line.add_measurements() = MeasurementToProto(measured);
        std::string json;
        AddJsonLine(line, json);
        absl::StrAppend(&out, "{\"trial\":\"", name, "\",", json.substr(1));
        return absl::OkStatus();
      });
}

}  // namespace

void ExportVerb::AddTo(VerbTable& table) {
  using Request = v1::ExportTrialsRequest;
  using Chunks = std::vector<v1::ExportChunk>;
  const auto begin = [this](const CallContext&, Request request) {
    // What the next page goes on after; nothing once all are written.
    auto after = std::make_shared<std::optional<std::int64_t>>(-1);
    return [this, request = std::move(request), after](Reply<Chunks> reply) {
      if (!after->has_value()) return reply(Chunks());
      calls_.Read<ExportedPage>(
          {request.name()},
          [after, reply = std::move(reply)](
              absl::StatusOr<ExportedPage> page) mutable {
            if (!page.ok()) return reply(page.status());
            *after = page->next;
            Chunks chunks(1);
            chunks[0].set_data(std::move(page->data));
            reply(std::move(chunks));
          },
          [this, request, from = **after](
              const std::vector<StudyHandle>& studies,
              Reply<ExportedPage> answer) {
            answer(ExportNext(studies[0], request, from));
          });
    };
  };
  table.streams.emplace(
      "frostline.v1.StudyService.ExportTrials",
      MakeStreamVerb<Request, v1::ExportChunk>(CallerRole::kViewer, begin));
}

absl::StatusOr<ExportedPage> ExportVerb::ExportNext(
    const StudyHandle& study, const v1::ExportTrialsRequest& request,
    std::int64_t after) const {
  if (request.format() == v1::ExportTrialsRequest::OPTUNA_JOURNAL) {
    return MakeError(ErrorId::kMethodNotBuilt,
                     "the journal format is not served yet",
                     "export JSON_LINES or CSV", "format");
  }
  ASSIGN_OR_RETURN(const TrialFilter filter,
                   TrialFilter::Parse(request.filter()));
  storage::TrialQuery query;
  query.study = study.key;
  query.after = after;
  query.limit = kPage;
  ASSIGN_OR_RETURN(const std::vector<storage::TrialRow> rows,
                   store_.ListTrials(query));
  const bool csv = request.format() == v1::ExportTrialsRequest::CSV;
  ExportedPage page;
  if (csv && after < 0) page.data = CsvHeader(*study.checked);
  for (const storage::TrialRow& row : rows) {
    if (!filter.Matches(row)) continue;
    if (csv) {
      AddCsvLine(row, *study.checked, page.data);
      continue;
    }
    const v1::Trial trial = TrialToProto(row, study.id, study.checked->space,
                                         v1::TRIAL_VIEW_FULL, {});
    AddJsonLine(trial, page.data);
    if (request.with_measurements()) {
      RETURN_IF_ERROR(
          AddMeasurementLines(row, trial.name(), store_, page.data));
    }
  }
  if (rows.size() == kPage) page.next = rows.back().number;
  return page;
}

}  // namespace frostline::server
