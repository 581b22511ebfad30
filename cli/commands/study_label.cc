// SPDX-License-Identifier: Apache-2.0
//
// `frostline study label` and `study note`.
#include <optional>

#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/label_words.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study_changes.h"
#include "cli/commands/study_verbs.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// More than a study or a trial may have.
constexpr std::size_t kMaxStudyLabelsBytes = 64 << 10;

struct StudyLabelArgs {
  std::string id;
  std::vector<std::string> changes;
  std::optional<std::string> note;  // nothing: it is shown
  Output output = {};
};

std::string StudyLabelsText(const v1::Study& study) {
  const std::string labels = proto::CleanText(
      FormatLabels(study.settings().labels()), kMaxStudyLabelsBytes);
  return "study " + LastPart(study.name()) + " " +
         (labels.empty() ? "has no labels" : "is labelled " + labels) + "\n";
}

absl::StatusOr<ExitCode> LabelStudy(Session& session,
                                    const StudyLabelArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  LabelMap tried;
  RETURN_IF_ERROR(ChangeLabels(args.changes, "KEY=VALUE", tried));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto change = [&args](v1::UpdateStudyRequest& request) {
    request.mutable_update_mask()->add_paths("labels");
    return ChangeLabels(args.changes, "KEY=VALUE",
                        *request.mutable_settings()->mutable_labels());
  };
  const absl::StatusOr<v1::Study> study =
      args.changes.empty() ? FetchStudy(*client, name)
                           : ChangeSettings(*client, name, change);
  RETURN_IF_ERROR(study.status());
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, *study,
                           [&study] { return StudyLabelsText(*study); }));
  return kExitOk;
}

std::string NoteSaid(const v1::Study& study, bool is_new) {
  return NoteText("study " + LastPart(study.name()), study.settings().notes(),
                  is_new);
}

absl::StatusOr<ExitCode> ShowNote(Session& session, const StudyLabelArgs& args,
                                  const std::string& name) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, study,
                           [&study] { return NoteSaid(study, false); }));
  return kExitOk;
}

absl::StatusOr<ExitCode> NoteStudy(Session& session,
                                   const StudyLabelArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  if (!args.note.has_value()) return ShowNote(session, args, name);
  ASSIGN_OR_RETURN(const std::string note, ReadNote(*args.note));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto change = [&note](v1::UpdateStudyRequest& request) {
    request.mutable_update_mask()->add_paths("notes");
    request.mutable_settings()->set_notes(note);
    return absl::OkStatus();
  };
  ASSIGN_OR_RETURN(const v1::Study study,
                   ChangeSettings(*client, name, change));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, study,
                           [&study] { return NoteSaid(study, true); }));
  return kExitOk;
}

}  // namespace

void AddStudyLabel(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<StudyLabelArgs>();
  CLI::App* const label =
      AddVerb(noun, "label",
              "Set labels of a study, take some away, or show them", invocation,
              [args](Session& session) { return LabelStudy(session, *args); });
  label->add_option("ID", args->id, "The study")->required();
  label->add_option("KEY=VALUE", args->changes,
                    "Set this label; KEY- takes it away");
  AddOneFormats(label, args->output);
  CLI::App* const note = AddVerb(
      noun, "note", "Write a study's note, in Markdown, or show it", invocation,
      [args](Session& session) { return NoteStudy(session, *args); });
  note->add_option("ID", args->id, "The study")->required();
  // The parser would take '' for an optional that is not there.
  note->add_option_function<std::string>(
      "TEXT", [args](const std::string& text) { args->note = text; },
      "The note; - is standard input, '' takes it away");
  AddOneFormats(note, args->output);
}

}  // namespace frostline::cli
