// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/commands/importance.h"
#include "cli/commands/plan_show.h"

namespace frostline::cli {
namespace {

constexpr int kMostAsked = 64;  // as the contract says
constexpr int kMostPlanSeeds = 32;

// What can be judged without the coordinator and not by CLI11.
absl::Status CheckArgs(const PlanArgs& args) {
  if (!std::isfinite(args.tolerance)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("tolerance is ", args.tolerance),
                     "give a part of the score, 0 or more");
  }
  if (args.output.Format() == "svg" && !args.frontier) {
    return MakeError(ErrorId::kRequestInvalid, "there is no picture of that",
                     "use --frontier, or another format");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> Plan(Session& session, const PlanArgs& args) {
  RETURN_IF_ERROR(CheckArgs(args));
  PlanAsked plan;
  ASSIGN_OR_RETURN(plan.study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(plan.options, args.question.Options());
  plan.tolerance = args.tolerance;
  plan.terminal = session.terminal;
  std::optional<StopSignals> signals;  // before the client has threads
  if (args.wait) signals.emplace();
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  const absl::Status shown =
      args.frontier  ? ShowFrontier(*client, args, plan, width)
      : args.ask > 0 ? ShowAsked(*client, args, plan, width)
      : args.verify  ? ShowVerification(session, *client, args, plan, width,
                                       signals ? &*signals : nullptr)
                     : ShowPlan(*client, args, plan, width);
  RETURN_IF_ERROR(AsUsage(HelpEndedStudy(*client, plan.study, shown)));
  return kExitOk;
}

void AddPlanFlags(CLI::App& verb, PlanArgs& args) {
  CLI::Option* const frontier = verb.add_flag(
      "--frontier", args.frontier, "The least to train, by how much it is");
  CLI::Option* const ask =
      verb.add_option("--ask", args.ask,
                      "The so many trials that would tell most")
          ->check(CLI::Range(1, kMostAsked))
          ->excludes(frontier);
  CLI::Option* const verify =
      verb.add_flag("--verify", args.verify,
                    "Run the plan and its rivals; then predicted and seen")
          ->excludes(frontier)
          ->excludes(ask);
  verb.add_option("--seeds", args.seeds, "Each rival's runs")
      ->check(CLI::Range(1, kMostPlanSeeds))
      ->needs(verify)
      ->capture_default_str();
  verb.add_flag("--wait", args.wait, "Until all of them have ended")
      ->needs(verify);
  verb.add_flag("--anew", args.anew, "Even where a plan was verified before")
      ->needs(verify);
  verb.add_flag("--enqueue", args.enqueue,
                "Have the study run the plan, or with --ask those trials")
      ->excludes(frontier)
      ->excludes(verify);
}

}  // namespace

void AddPlanCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<PlanArgs>();
  CLI::App* const verb = AddVerb(
      app, "plan", "What to freeze, and at which rate to train the rest",
      invocation, [args](Session& session) { return Plan(session, *args); });
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--tolerance", args->tolerance,
                   "How much of the score freezing may cost [0; of --frontier "
                   "the noise of one run]")
      ->check(AtLeastZero());
  AddPlanFlags(*verb, *args);
  args->question.AddTo(*verb);
  args->output.AddTo(*verb, {"table", "json", "jsonl", "yaml", "csv", "svg"});
}

}  // namespace frostline::cli
