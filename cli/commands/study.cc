// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study_verbs.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

struct StudyArgs {
  std::string id;
  std::string reason;
  std::string filter;
  Output output;
};

absl::StatusOr<ExitCode> ListStudies(Session& session, const StudyArgs& args) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::ListStudiesRequest request;
  request.set_filter(args.filter);
  ASSIGN_OR_RETURN(
      const v1::ListStudiesReply all,
      client->CallForAll(&v1::StudyService::Stub::ListStudies, request));
  RETURN_IF_ERROR(PrintList(
      session.terminal, args.output, all,
      [&all](bool wide) {
        return StudyTable({all.studies().begin(), all.studies().end()}, wide);
      },
      args.filter.empty()
          ? "no studies; create one with `frostline study create FILE`"
          : "no such studies"));
  return kExitOk;
}

// With several objectives the Pareto set stands for the best trial.
absl::StatusOr<std::string> Description(const Session& session, Client& client,
                                        const v1::Study& study) {
  if (study.spec().objectives_size() <= 1) {
    ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
    return RenderStudy(study, best, session.terminal.width);
  }
  ASSIGN_OR_RETURN(const auto front, FetchBestTrials(client, study.name()));
  const std::string text =
      RenderStudy(study, std::nullopt, session.terminal.width);
  if (front.trials().empty()) return text;
  return absl::StrCat(
      text, "\n",
      RenderFront({front.trials().begin(), front.trials().end()}, study.spec(),
                  session.terminal.width));
}

absl::StatusOr<ExitCode> ShowStudy(Session& session, const StudyArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  std::string text;
  if (args.output.format == Format::kTable) {
    ASSIGN_OR_RETURN(text, Description(session, *client, study));
  }
  RETURN_IF_ERROR(
      PrintOne(session.terminal, args.output, study, [&text] { return text; }));
  return kExitOk;
}

absl::StatusOr<ExitCode> PrintStudies(const Session& session,
                                      const Output& output,
                                      const absl::StatusOr<v1::Study>& study) {
  RETURN_IF_ERROR(study.status());
  RETURN_IF_ERROR(PrintOne(session.terminal, output, *study, [&study] {
    return absl::StrCat("study ", LastPart(study->name()), " is ",
                        NameOf(study->state()), "\n");
  }));
  return kExitOk;
}

// Pause, resume and stop differ in their messages alone.
template <typename Request, typename Method>
absl::StatusOr<ExitCode> Turn(Session& session, const StudyArgs& args,
                              Request request, Method method) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_name(name);
  request.set_request_id(NewRequestId(SystemClock()));
  return PrintStudies(session, args.output, client->Call(method, request));
}

void AddCommon(CLI::App* verb, const std::shared_ptr<StudyArgs>& args) {
  verb->add_option("ID", args->id, "The study")->required();
  AddOneFormats(verb, args->output);
}

void AddPauseAndResume(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<StudyArgs>();
  CLI::App* const pause =
      AddVerb(noun, "pause", "Lease no more trials; running ones go on",
              invocation, [args](Session& session) {
                v1::PauseStudyRequest request;
                request.set_reason(args->reason);
                return Turn(session, *args, request,
                            &v1::StudyService::Stub::PauseStudy);
              });
  AddCommon(pause, args);
  pause->add_option("--reason", args->reason, "Shown to whoever asks why");
  AddCommon(AddVerb(noun, "resume", "Lease trials again", invocation,
                    [args](Session& session) {
                      return Turn(session, *args, v1::ResumeStudyRequest(),
                                  &v1::StudyService::Stub::ResumeStudy);
                    }),
            args);
}

void AddStop(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<StudyArgs>();
  const auto finish = std::make_shared<bool>(false);
  CLI::App* const stop =
      AddVerb(noun, "stop", "End a study for good", invocation,
              [args, finish](Session& session) {
                v1::StopStudyRequest request;
                request.set_reason(args->reason);
                request.set_let_running_finish(*finish);
                return Turn(session, *args, request,
                            &v1::StudyService::Stub::StopStudy);
              });
  AddCommon(stop, args);
  stop->add_option("--reason", args->reason, "Shown to whoever asks why");
  stop->add_flag("--let-running-finish", *finish,
                 "Running trials end by themselves instead of being stopped");
}

}  // namespace

void AddStudyCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "study", "Create, list, watch, change and stop studies");
  noun->require_subcommand(1)->fallthrough();
  AddStudyBest(*noun, invocation);
  AddStudyCreate(*noun, invocation);
  const auto args = std::make_shared<StudyArgs>();
  CLI::App* const list =
      AddVerb(*noun, "list", "List all studies", invocation,
              [args](Session& session) { return ListStudies(session, *args); });
  list->add_option("--filter", args->filter,
                   "Only those: 'state = ACTIVE AND labels.team = \"nlp\"'; "
                   "`frostline help filter`")
      ->type_name("TERMS");
  AddListFormats(list, args->output);
  AddWide(list, args->output, "Whose they are, and their labels");
  AddCommon(
      AddVerb(*noun, "show", "Show one study and its best trial", invocation,
              [args](Session& session) { return ShowStudy(session, *args); }),
      args);
  AddStudyWatch(*noun, invocation);
  AddStudyHistory(*noun, invocation);
  AddStudyUpdate(*noun, invocation);
  AddPauseAndResume(*noun, invocation);
  AddStop(*noun, invocation);
  AddStudyClone(*noun, invocation);
  AddStudyDelete(*noun, invocation);
  AddStudyDiff(*noun, invocation);
  AddStudyExport(*noun, invocation);
  AddStudyImport(*noun, invocation);
  AddStudyLabel(*noun, invocation);
  AddStudyWait(*noun, invocation);
  AddStudyWhy(*noun, invocation);
}

}  // namespace frostline::cli
