// SPDX-License-Identifier: Apache-2.0
//
// `frostline study why`: why nothing, or so little, is running.
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/idle_fix.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study_verbs.h"
#include "cli/commands/trial_words.h"
#include "cli/view/counted.h"
#include "cli/view/format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

struct WhyArgs {
  TrialWords asked;
  Output output = {};
};

std::string ReasonsText(const v1::ExplainStudyReply& why,
                        const std::string& address) {
  std::string text;
  for (const v1::ExplainStudyReply::Reason& reason : why.reasons()) {
    absl::StrAppend(&text,
                    proto::CleanText(reason.sentence(), proto::kMaxCauseBytes),
                    "\n");
    if (reason.fix().empty()) continue;
    absl::StrAppend(&text, "  fix: ", IdleFix(reason, address), "\n");
  }
  if (text.empty()) text = "nothing holds it up\n";
  return absl::StrCat(
      text, "workers: ", why.live_workers(), " live, ", why.matching_workers(),
      why.matching_workers() == 1 ? " of them fits" : " of them fit",
      " it, with ", Counted(why.free_slots(), "free slot"), "\n");
}

absl::StatusOr<ExitCode> Why(Session& session, const WhyArgs& args) {
  v1::ExplainStudyRequest request;
  const bool of_trial =
      !args.asked.number.empty() || TrialNameFrom(args.asked).ok();
  if (of_trial) {
    ASSIGN_OR_RETURN(const std::string name, TrialNameFrom(args.asked));
    ASSIGN_OR_RETURN(const TrialName trial, ParseTrialName(name));
    request.set_name(StudyNameOf(trial.study_id));
    request.set_trial_number(trial.number);
  } else {
    ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.asked.study));
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::ExplainStudyReply why,
      client->Call(&v1::StudyService::Stub::ExplainStudy, request));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, why, [&] {
    return ReasonsText(why, client->address());
  }));
  return kExitOk;
}

}  // namespace

void AddStudyWhy(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<WhyArgs>();
  CLI::App* const verb = AddVerb(
      noun, "why", "Why nothing, or so little, is running, and what to do",
      invocation, [args](Session& session) { return Why(session, *args); });
  verb->add_option("ID", args->asked.study, "The study, or STUDY/NUMBER")
      ->required();
  verb->add_option("NUMBER", args->asked.number,
                   "Of this trial too: where it is, or how it ended");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
