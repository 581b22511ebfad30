// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"
#include "cli/commands/command.h"
#include "cli/commands/importance_flags.h"
#include "cli/term/busy_line.h"
#include "cli/view/importance_csv.h"
#include "cli/view/plan_view.h"

namespace frostline::cli {
namespace {

struct StudyCompareArgs {
  std::string first;
  std::string second;
  QuestionFlags question;
  OutputFlags output;
};

absl::StatusOr<ExitCode> CompareStudies(Session& session,
                                        const StudyCompareArgs& args) {
  v1::CompareStudiesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_first(), StudyNameFrom(args.first));
  ASSIGN_OR_RETURN(*request.mutable_second(), StudyNameFrom(args.second));
  ASSIGN_OR_RETURN(*request.mutable_options(), args.question.Options());
  RETURN_IF_ERROR(args.output.Check());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  absl::StatusOr<v1::StudyComparison> comparison;
  {
    const BusyLine busy(session.terminal, "comparing");
    comparison =
        client->Call(&v1::ImportanceService::Stub::CompareStudies, request);
  }
  if (!comparison.ok()) return AsUsage(comparison.status());
  const std::string format = args.output.Format();
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  RETURN_IF_ERROR(args.output.Write(
      IsForMessages(format) ? InFormat(format, *comparison)
      : format == "csv"     ? ComparisonCsv(*comparison)
                            : RenderComparison(*comparison, width)));
  return kExitOk;
}

}  // namespace

void AddCompareCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<StudyCompareArgs>();
  CLI::App* const verb = AddVerb(
      app, "compare", "Whether the same modules mattered in two studies",
      invocation,
      [args](Session& session) { return CompareStudies(session, *args); });
  verb->add_option("FIRST", args->first, "A study")->required();
  verb->add_option("SECOND", args->second, "Another one")->required();
  args->question.AddTo(*verb);
  args->output.AddTo(*verb, {"table", "json", "jsonl", "yaml", "csv"});
}

}  // namespace frostline::cli
