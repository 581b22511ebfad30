// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/export_verb.h"

#include <utility>

#include "absl/status/status.h"
#include "base/ids.h"
#include "server/verbs/export_lines.h"
#include "server/wire/filter.h"

namespace frostline::server {
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
      // A curve of which only a part fitted goes on in the next chunk.
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
