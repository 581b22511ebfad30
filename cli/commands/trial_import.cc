// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_import.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/commands/imported_notes.h"

namespace frostline::cli {
namespace {

constexpr int kMostImported = 1'000;
// A request has 1 MiB at most, with some room for its other fields.
constexpr std::size_t kMostTrialImportBytes = 900 * 1024;
// A spec has 256 KiB at most.
constexpr std::size_t kMostPointBytes = 64 * 1024;
constexpr std::int64_t kMostImportedTrials = 1'000'000;

// Maps in the order of their keys, so that the same content has one sum.
std::string Serialized(const google::protobuf::Message& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

std::string ImportRequestIdOf(const v1::Study& study, std::size_t place,
                              const v1::ImportTrialsRequest& request) {
  Sha256Sum sum;
  sum.AddField(study.name());
  // A study of the same name that was made anew is another one.
  sum.AddField(Serialized(study.create_time()));
  sum.AddNumber(place);
  sum.AddField(Serialized(request));
  return sum.Finish();
}

// "trials[3].parameters.x" after `start` is of the trial `first` + 3.
absl::Status PlacedTrial(const absl::Status& status, const std::string& start,
                         std::size_t first, const ImportedLines& read,
                         const std::string& file) {
  const auto detail = DetailOf(status);
  const std::size_t found =
      detail.has_value() ? detail->field.find(start) : std::string::npos;
  if (found == std::string::npos) return status;
  const std::size_t at =
      first +
      std::strtoul(detail->field.c_str() + found + start.size(), nullptr, 10);
  if (at >= read.lines.size()) return status;
  return MakeError(
      detail->id,
      absl::StrCat(file, ":", read.lines[at], ": ", status.message()),
      detail->fix, detail->field);
}

// Nothing imports without writing, but a study that is only checked judges the
// points it would begin with.
absl::Status CheckPoints(Client& client, const v1::Study& study,
                         const ImportedLines& read, const std::string& file) {
  v1::CreateStudyRequest request;
  request.set_study_id(NewRequestId(SystemClock()));
  request.set_validate_only(true);
  *request.mutable_settings() = study.settings();
  request.mutable_settings()->mutable_budget()->set_trials(kMostImportedTrials);
  *request.mutable_spec() = study.spec();
  v1::StudySpec& spec = *request.mutable_spec();
  spec.clear_warm_start();
  std::size_t first = 0;
  while (first < read.trials.size()) {
    spec.clear_enqueue();
    std::size_t bytes = 0;
    std::size_t end = first;
    for (; end < read.trials.size() && bytes < kMostPointBytes &&
           spec.enqueue_size() < kMostImported;
         ++end) {
      *spec.add_enqueue()->mutable_values() = read.trials[end].parameters();
      bytes += spec.enqueue(spec.enqueue_size() - 1).ByteSizeLong();
    }
    request.set_request_id(NewRequestId(SystemClock()));
    const absl::Status judged =
        client.Call(&v1::StudyService::Stub::CreateStudy, request).status();
    const auto detail = DetailOf(judged);
    // Whatever else it finds is no fault of the trials.
    if (detail.has_value() &&
        detail->field.find("enqueue[") != std::string::npos) {
      return PlacedTrial(judged, "enqueue[", first, read, file);
    }
    first = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<v1::ImportTrialsRequest>> ImportBatches(
    const v1::Study& study, const ImportedLines& read,
    const std::string& file) {
  std::vector<v1::ImportTrialsRequest> batches;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < read.trials.size(); ++i) {
    const std::size_t size = read.trials[i].ByteSizeLong();
    if (size > kMostTrialImportBytes) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat(file, ":", read.lines[i], ": the trial has ", size,
                       " bytes with its measurements"),
          "leave measurements of this trial out", "FILE");
    }
    const bool is_full = batches.empty() ||
                         bytes + size > kMostTrialImportBytes ||
                         batches.back().trials_size() == kMostImported;
    if (is_full) {
      batches.emplace_back().set_name(study.name());
      bytes = 0;
    }
    *batches.back().add_trials() = read.trials[i];
    bytes += size;
  }
  for (std::size_t i = 0; i < batches.size(); ++i) {
    batches[i].set_request_id(ImportRequestIdOf(study, i, batches[i]));
  }
  return batches;
}

absl::StatusOr<ImportDone> ImportAll(Client& client, const v1::Study& study,
                                     const ImportedLines& read,
                                     const std::string& file) {
  ASSIGN_OR_RETURN(const std::vector<v1::ImportTrialsRequest> batches,
                   ImportBatches(study, read, file));
  if (batches.size() > 1) {
    RETURN_IF_ERROR(CheckPoints(client, study, read, file));
  }
  const v1::TrialCounts& counts = study.counts();
  // The number of the first trial that an earlier import cannot have made.
  const std::int64_t known = counts.queued() + counts.running() +
                             counts.succeeded() + counts.pruned() +
                             counts.infeasible() + counts.failed() +
                             counts.cancelled();
  ImportDone done;
  std::size_t first = 0;
  for (const v1::ImportTrialsRequest& batch : batches) {
    const absl::StatusOr<v1::ImportTrialsReply> reply =
        client.Call(&v1::StudyService::Stub::ImportTrials, batch);
    if (!reply.ok())
      return PlacedTrial(reply.status(), "trials[", first, read, file);
    (reply->first_number() < known ? done.already : done.imported) +=
        reply->count();
    const auto count = static_cast<std::size_t>(batch.trials_size());
    RETURN_IF_ERROR(WriteNotes(client, study, read,
                               {.first = first,
                                .count = count,
                                .first_number = reply->first_number()}));
    first += count;
  }
  return done;
}

}  // namespace frostline::cli
