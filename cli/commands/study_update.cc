// SPDX-License-Identifier: Apache-2.0
//
// `frostline study update`: what may change of a study that is there.
#include <iostream>
#include <optional>

#include "base/error.h"
#include "base/ids.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostTrials = 1'000'000;
constexpr int kMostPriority = 1'000;

struct UpdateArgs {
  std::string id;
  std::optional<std::int64_t> budget;  // trials
  std::optional<int> priority;
  std::optional<int> max_parallel;
  std::optional<std::string> pruner;  // by name
  std::optional<std::string> notes;
  Output output;
};

v1::UpdateStudyRequest RequestOf(const UpdateArgs& args) {
  v1::UpdateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  v1::StudySettings& settings = *request.mutable_settings();
  google::protobuf::FieldMask& mask = *request.mutable_update_mask();
  if (args.budget) {
    settings.mutable_budget()->set_trials(*args.budget);
    mask.add_paths("budget.trials");
  }
  if (args.priority) {
    settings.set_priority(*args.priority);
    mask.add_paths("priority");
  }
  if (args.max_parallel) {
    settings.set_max_parallel(*args.max_parallel);
    mask.add_paths("max_parallel");
  }
  if (args.pruner) {
    settings.mutable_pruner()->set_name(*args.pruner);
    mask.add_paths("pruner");
  }
  if (args.notes) {
    settings.set_notes(*args.notes);
    mask.add_paths("notes");
  }
  return request;
}

absl::StatusOr<ExitCode> Update(Session& session, const UpdateArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  v1::UpdateStudyRequest request = RequestOf(args);
  if (request.update_mask().paths().empty()) {
    return MakeError(ErrorId::kRequestInvalid, "nothing is to be changed",
                     "say what: --budget, --priority, --max-parallel, "
                     "--pruner or --notes");
  }
  request.set_name(name);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study,
                   client->Call(&v1::StudyService::Stub::UpdateStudy, request));
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, study, [&study] {
    return absl::StrCat("study ", LastPart(study.name()), " is ",
                        NameOf(study.state()), ", ", ProgressText(study), "\n");
  }));
  return kExitOk;
}

}  // namespace

void AddStudyUpdate(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<UpdateArgs>();
  CLI::App* const verb = AddVerb(
      noun, "update", "Change settings of a study; its spec never changes",
      invocation, [args](Session& session) { return Update(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--budget", args->budget,
                   "So many trials in all; more let a complete study go on")
      ->check(CLI::Range(std::int64_t{1}, kMostTrials));
  verb->add_option("--priority", args->priority,
                   "Higher goes first among studies that compete for workers")
      ->check(CLI::Range(-kMostPriority, kMostPriority));
  verb->add_option("--max-parallel", args->max_parallel,
                   "At most so many trials at a time; 0: as many as the "
                   "sampler can use")
      ->check(AtLeastZero());
  verb->add_option("--pruner", args->pruner,
                   "Another pruner, with its usual options; none: no pruner");
  verb->add_option("--notes", args->notes, "Other notes, in Markdown");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
