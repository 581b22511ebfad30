// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"

namespace frostline {
namespace {

struct ImportanceArgs {
  std::string study;
  std::string evaluator;
  std::string target;
  bool json = false;
};

absl::StatusOr<ExitCode> Importance(Session& session,
                                    const ImportanceArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::GetReportRequest request;
  request.set_study(name);
  request.mutable_options()->set_evaluator(args.evaluator);
  request.mutable_options()->set_target(args.target);
  ASSIGN_OR_RETURN(
      const v1::ImportanceReport report,
      client->Call(&v1::ImportanceService::Stub::GetReport, request));
  std::cout << (args.json ? ToJson(report)
                          : RenderImportance(report, session.terminal.width));
  return kExitOk;
}

}  // namespace

void AddImportanceCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<ImportanceArgs>();
  CLI::App* const verb =
      AddVerb(app, "importance", "Which modules mattered, and how sure that is",
              invocation,
              [args](Session& session) { return Importance(session, *args); });
  verb->add_option("STUDY", args->study, "The study")->required();
  verb->add_option("--evaluator", args->evaluator, "How to judge [fanova]");
  verb->add_option("--target", args->target,
                   "The metric to explain [the first objective]");
  verb->add_flag("--json", args->json, "The report as JSON");
}

}  // namespace frostline
