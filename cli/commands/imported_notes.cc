// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/imported_notes.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/sums.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// As the coordinator counts them: labels and note together.
constexpr std::size_t kMostNoteBytes = std::size_t{64} << 10;

std::string NoteRequestIdOf(const v1::Study& study, const std::string& trial,
                            const std::string& note) {
  Sha256Sum sum;
  sum.AddField(trial);
  // A study of the same name that was made anew is another one.
  sum.AddField(study.create_time().SerializeAsString());
  sum.AddField(note);
  return sum.Finish();
}

}  // namespace

absl::Status CheckNote(const v1::Trial& trial, const std::string& file,
                       std::size_t line) {
  v1::Trial kept;
  *kept.mutable_labels() = trial.labels();
  kept.set_note(trial.note());
  if (kept.ByteSizeLong() <= kMostNoteBytes) return absl::OkStatus();
  return BadLine(file, line, "the trial's labels and its note are over 64 KiB",
                 "shorten the note");
}

absl::Status WriteNotes(Client& client, const v1::Study& study,
                        const ImportedLines& read, const TakenBatch& batch) {
  const std::size_t end = batch.first + batch.count;
  for (auto note = read.notes.lower_bound(batch.first);
       note != read.notes.end() && note->first < end; ++note) {
    v1::UpdateTrialRequest request;
    const auto place = static_cast<std::int64_t>(note->first - batch.first);
    request.set_name(TrialNameOf(std::string(LastPart(study.name())),
                                 batch.first_number + place));
    request.set_note(note->second);
    request.mutable_update_mask()->add_paths("note");
    request.set_request_id(
        NoteRequestIdOf(study, request.name(), note->second));
    RETURN_IF_ERROR(
        client.Call(&v1::StudyService::Stub::UpdateTrial, request).status());
  }
  return absl::OkStatus();
}

}  // namespace frostline::cli
