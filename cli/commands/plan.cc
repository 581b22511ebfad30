// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/commands/importance_flags.h"
#include "cli/view/format.h"
#include "cli/view/importance_csv.h"
#include "cli/view/plan_view.h"

namespace frostline {
namespace {

struct PlanArgs {
  std::string study;
  QuestionFlags question;
  double tolerance = 0.0;
  bool enqueue = false;
  OutputFlags output;
};

struct CompareArgs {
  std::string first;
  std::string second;
  QuestionFlags question;
  OutputFlags output;
};

// The plan's point becomes a trial, which runs before the sampler's.
absl::Status Enqueue(Client& client, const v1::FreezePlan& plan) {
  v1::EnqueueTrialsRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_name(plan.study());
  *request.add_trials() = plan.as_trial();
  ASSIGN_OR_RETURN(
      const v1::EnqueueTrialsReply reply,
      client.Call(&v1::StudyService::Stub::EnqueueTrials, request));
  std::cerr << "enqueued as " << reply.trials(0).name() << "\n";
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Plan(Session& session, const PlanArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  v1::GetPlanRequest request;
  request.set_study(name);
  ASSIGN_OR_RETURN(*request.mutable_options(), args.question.Options());
  request.set_tolerance(args.tolerance);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto plan =
      client->Call(&v1::ImportanceService::Stub::GetPlan, request);
  if (!plan.ok()) return AsUsage(plan.status());
  const std::string format = args.output.Format();
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  RETURN_IF_ERROR(args.output.Write(format == "json" ? ToJson(*plan)
                                    : format == "csv"
                                        ? PlanCsv(*plan)
                                        : RenderFreezePlan(*plan, width)));
  if (args.enqueue) RETURN_IF_ERROR(Enqueue(*client, *plan));
  return kExitOk;
}

absl::StatusOr<ExitCode> Compare(Session& session, const CompareArgs& args) {
  v1::CompareStudiesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_first(), StudyNameFrom(args.first));
  ASSIGN_OR_RETURN(*request.mutable_second(), StudyNameFrom(args.second));
  ASSIGN_OR_RETURN(*request.mutable_options(), args.question.Options());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const auto comparison =
      client->Call(&v1::ImportanceService::Stub::CompareStudies, request);
  if (!comparison.ok()) return AsUsage(comparison.status());
  const std::string format = args.output.Format();
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  RETURN_IF_ERROR(args.output.Write(
      format == "json"  ? ToJson(*comparison)
      : format == "csv" ? ComparisonCsv(*comparison)
                        : RenderComparison(*comparison, width)));
  return kExitOk;
}

}  // namespace

void AddPlanCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<PlanArgs>();
  CLI::App* const verb = AddVerb(
      app, "plan", "What to freeze, and at which rate to train the rest",
      invocation, [args](Session& session) { return Plan(session, *args); });
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score freezing may cost [nothing that can "
                   "be told from noise]")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--enqueue", args->enqueue,
                 "Have the study run the plan next, to verify it");
  args->question.AddTo(*verb);
  args->output.AddTo(*verb, {"table", "json", "csv"});
  verb->footer(
      "Examples:\n"
      "  frostline plan imdb\n"
      "  frostline plan imdb --tolerance 0.002 --enqueue");
}

void AddCompareCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<CompareArgs>();
  CLI::App* const verb = AddVerb(
      app, "compare", "Whether the same modules mattered in two studies",
      invocation, [args](Session& session) { return Compare(session, *args); });
  verb->add_option("FIRST", args->first, "A study")->required();
  verb->add_option("SECOND", args->second, "Another one")->required();
  args->question.AddTo(*verb);
  args->output.AddTo(*verb, {"table", "json", "csv"});
  verb->footer("Examples:\n  frostline compare imdb sst2");
}

}  // namespace frostline
