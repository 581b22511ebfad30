// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial label` and `trial note`.
#include <utility>

#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/importance_flags.h"
#include "cli/commands/label_words.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study_changes.h"
#include "cli/commands/trial_verbs.h"
#include "cli/commands/trial_words.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// More than a study or a trial may have.
constexpr std::size_t kMaxTrialLabelsBytes = 64 << 10;

struct TrialLabelArgs {
  TrialWords trial;
  std::vector<std::string> more;
  Output output = {};
};

absl::StatusOr<v1::Trial> FetchTrialLabels(Client& client,
                                           const std::string& name) {
  v1::GetTrialRequest request;
  request.set_name(name);
  return client.Call(&v1::StudyService::Stub::GetTrial, request);
}

absl::StatusOr<v1::Trial> UpdateTrial(Client& client, const std::string& path,
                                      v1::UpdateTrialRequest request) {
  request.set_request_id(NewRequestId(SystemClock()));
  request.mutable_update_mask()->add_paths(path);
  absl::StatusOr<v1::Trial> updated =
      client.Call(&v1::StudyService::Stub::UpdateTrial, request);
  if (!updated.ok()) return AsUsage(updated.status());
  return updated;
}

std::string TrialLabelsText(const v1::Trial& trial) {
  const std::string labels =
      proto::CleanText(FormatLabels(trial.labels()), kMaxTrialLabelsBytes);
  return trial.name() +
         (labels.empty() ? " has no labels" : " is labelled " + labels) + "\n";
}

absl::StatusOr<ExitCode> LabelTrial(Session& session,
                                    const TrialLabelArgs& args) {
  std::vector<std::string> changes = args.more;
  v1::UpdateTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(),
                   TrialNameFrom(args.trial, &changes));
  LabelMap tried;
  RETURN_IF_ERROR(ChangeLabels(changes, "KEY=VALUE", tried));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(v1::Trial trial, FetchTrialLabels(*client, request.name()));
  if (!changes.empty()) {
    *request.mutable_labels() = trial.labels();
    RETURN_IF_ERROR(
        ChangeLabels(changes, "KEY=VALUE", *request.mutable_labels()));
    ASSIGN_OR_RETURN(trial, UpdateTrial(*client, "labels", std::move(request)));
  }
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, trial,
                           [&trial] { return TrialLabelsText(trial); }));
  return kExitOk;
}

absl::StatusOr<ExitCode> NoteTrial(Session& session,
                                   const TrialLabelArgs& args) {
  std::vector<std::string> words = args.more;
  v1::UpdateTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial, &words));
  if (words.size() > 1) {
    return MakeError(ErrorId::kRequestInvalid, "the note is more than one word",
                     "write it in quotes, or - for standard input", "TEXT");
  }
  const bool is_new = !words.empty();
  if (is_new) {
    ASSIGN_OR_RETURN(*request.mutable_note(), ReadNote(words[0]));
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const absl::StatusOr<v1::Trial> trial =
      is_new ? UpdateTrial(*client, "note", request)
             : FetchTrialLabels(*client, request.name());
  RETURN_IF_ERROR(trial.status());
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, *trial, [&] {
    return NoteText(trial->name(), trial->note(), is_new);
  }));
  return kExitOk;
}

}  // namespace

void AddTrialLabel(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialLabelArgs>();
  CLI::App* const label = AddStudyTrial(
      noun, "label", "Set labels of a trial, take some away, or show them",
      invocation, args->trial,
      [args](Session& session) { return LabelTrial(session, *args); });
  label->add_option("KEY=VALUE", args->more,
                    "Set this label; KEY- takes it away");
  AddOneFormats(label, args->output);
  CLI::App* const note = AddStudyTrial(
      noun, "note", "Write a trial's note, or show it", invocation, args->trial,
      [args](Session& session) { return NoteTrial(session, *args); });
  note->add_option("TEXT", args->more,
                   "The note; - is standard input, '' takes it away");
  AddOneFormats(note, args->output);
}

}  // namespace frostline::cli
