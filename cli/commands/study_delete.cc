// SPDX-License-Identifier: Apache-2.0
//
// `frostline study delete`: asks before it does, and deletes what was shown.
#include <unistd.h>

#include <iostream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study_verbs.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

struct DeleteArgs {
  std::string id;
  bool force = false;
  bool yes = false;
  Output output = {};
};

// Who is asked sees what would go.
bool Agrees(const v1::Study& study) {
  std::cerr << "study " << LastPart(study.name()) << " is "
            << NameOf(study.state()) << ", " << ProgressText(study)
            << "\ndelete it? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  answer = absl::AsciiStrToLower(absl::StripAsciiWhitespace(answer));
  return answer == "y" || answer == "yes";
}

absl::Status CheckRunning(const v1::Study& study, const DeleteArgs& args,
                          bool can_ask) {
  const std::int64_t running = study.counts().running();
  if (running == 0 || (args.force && (args.yes || can_ask))) {
    return absl::OkStatus();
  }
  const std::string id = LastPart(study.name());
  return MakeError(
      ErrorId::kStudyNotActive, absl::StrCat(running, " trials are running"),
      absl::StrCat("stop them with `frostline study stop ", id,
                   "`, or delete all the same: `frostline study delete ", id,
                   " --force --yes`"),
      args.force ? "--yes" : "--force");
}

// A script that forgot to say so has not agreed.
absl::Status CheckAgreed(const DeleteArgs& args, const std::string& id,
                         bool can_ask) {
  if (args.yes || can_ask) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      "nobody can be asked here, and --yes is not given: nothing was deleted",
      absl::StrCat("give it: frostline study delete ", id,
                   args.force ? " --force" : "", " --yes"),
      "--yes");
}

absl::StatusOr<ExitCode> Delete(Session& session, const DeleteArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  const bool can_ask = session.terminal.err_is_tty && isatty(STDIN_FILENO) != 0;
  RETURN_IF_ERROR(CheckRunning(study, args, can_ask));
  RETURN_IF_ERROR(CheckAgreed(args, LastPart(name), can_ask));
  if (can_ask && !args.yes && !Agrees(study)) {
    std::cerr << "nothing was deleted\n";
    return kExitFailure;
  }
  v1::DeleteStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(name);
  request.set_etag(study.etag());
  request.set_force(args.force);
  ASSIGN_OR_RETURN(const v1::Study deleted,
                   client->Call(&v1::StudyService::Stub::DeleteStudy, request));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, deleted, [&deleted] {
    return absl::StrCat("study ", LastPart(deleted.name()),
                        " is deleted; its data goes for good at ",
                        FormatTime(deleted.expire_time()), "\n");
  }));
  return kExitOk;
}

}  // namespace

void AddStudyDelete(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<DeleteArgs>();
  CLI::App* const verb = AddVerb(
      noun, "delete", "Delete a study and its trials; its id is free again",
      invocation, [args](Session& session) { return Delete(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_flag("--force", args->force,
                 "Also when trials are running; they are told to stop");
  verb->add_flag("-y,--yes", args->yes, "Do not ask");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
