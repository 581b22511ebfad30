// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/study_changes.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/plain/text.h"
#include "cli/commands/command.h"
#include "cli/commands/importance_flags.h"
#include "cli/term/text_file.h"

namespace frostline::cli {
namespace {

constexpr int kTries = 5;
constexpr std::size_t kMaxNoteBytes = 16 * 1024;

absl::StatusOr<v1::Study> ChangeOnce(
    Client& client, const std::string& study,
    const std::function<absl::Status(v1::UpdateStudyRequest&)>& change) {
  ASSIGN_OR_RETURN(const v1::Study now, FetchStudy(client, study));
  v1::UpdateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(study);
  request.set_etag(now.etag());
  *request.mutable_settings() = now.settings();
  RETURN_IF_ERROR(change(request));
  absl::StatusOr<v1::Study> updated =
      client.Call(&v1::StudyService::Stub::UpdateStudy, request);
  // Words of the command line, and of no file that could be corrected.
  if (!updated.ok()) return AsUsage(updated.status());
  return updated;
}

}  // namespace

absl::StatusOr<v1::Study> ChangeSettings(
    Client& client, const std::string& study,
    const std::function<absl::Status(v1::UpdateStudyRequest&)>& change) {
  absl::StatusOr<v1::Study> changed = ChangeOnce(client, study, change);
  for (int i = 1; i < kTries; ++i) {
    if (!HasErrorId(changed.status(), ErrorId::kEtagMismatch)) break;
    changed = ChangeOnce(client, study, change);
  }
  return changed;
}

absl::StatusOr<std::string> ReadNote(const std::string& word) {
  if (word != "-") return word;
  ASSIGN_OR_RETURN(const std::string text, ReadTextFile(word, kMaxNoteBytes));
  if (!IsValidUtf8(text)) {
    return MakeError(ErrorId::kRequestInvalid, "the note is no UTF-8 text",
                     "write it in UTF-8", "TEXT");
  }
  if (text.size() <= kMaxNoteBytes) return text;
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the note has more than ", kMaxNoteBytes, " bytes"),
      "shorten it, or keep the long text in a file of yours", "TEXT");
}

}  // namespace frostline::cli
