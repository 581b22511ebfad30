// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial_compare.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/importance_flags.h"
#include "cli/commands/output_flags.h"
#include "cli/term/busy_line.h"
#include "cli/view/comparison_view.h"
#include "cli/view/format.h"
#include "frostline/v1/importance_service.pb.h"

namespace frostline::cli {
namespace {

struct TrialCompareArgs {
  std::vector<std::string> contenders;
  std::string metric;
  std::string set;
  std::string task;
  double margin = 0.0;
  bool repeats = false;
  bool all_pairs = false;
  Output output;
};

absl::StatusOr<ExitCode> CompareTrials(Session& session,
                                       const TrialCompareArgs& args) {
  v1::CompareTrialsRequest request;
  for (const std::string& argument : args.contenders) {
    ASSIGN_OR_RETURN(*request.add_contenders(), ContenderFrom(argument));
    request.mutable_contenders()->rbegin()->set_with_repeats(args.repeats);
  }
  request.set_metric(args.metric);
  request.set_set(args.set);
  request.set_task(args.task);
  request.set_margin(args.margin);
  request.set_all_pairs(args.all_pairs);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  absl::StatusOr<v1::TrialComparison> comparison;
  {
    const BusyLine busy(session.terminal, "comparing");
    comparison =
        client->Call(&v1::ImportanceService::Stub::CompareTrials, request);
  }
  if (!comparison.ok()) return AsUsage(comparison.status());
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, *comparison, [&] {
    return RenderTrialComparison(*comparison, session.terminal.width);
  }));
  return kExitOk;
}

}  // namespace

absl::StatusOr<v1::Contender> ContenderFrom(const std::string& argument) {
  const std::string text = absl::StrReplaceAll(
      absl::StripPrefix(argument, "studies/"), {{"/trials/", "/"}});
  const std::size_t slash = text.find('/');
  const std::string numbers =
      slash == std::string::npos ? "" : text.substr(slash + 1);
  ASSIGN_OR_RETURN(const std::string study,
                   StudyNameFrom(text.substr(0, slash)));
  v1::Contender contender;
  contender.set_name(text);
  for (const absl::string_view digits : absl::StrSplit(numbers, ',')) {
    std::int64_t number = -1;
    if (!absl::SimpleAtoi(digits, &number) || number < 0) {
      return MakeError(
          ErrorId::kRequestInvalid,
          absl::StrCat("\"", argument, "\" names no trial"),
          "write STUDY/N, e.g. imdb/17, or STUDY/N,M for runs of one setting "
          "with different seeds");
    }
    contender.add_trials(absl::StrCat(study, "/trials/", number));
  }
  return contender;
}

void AddTrialCompare(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialCompareArgs>();
  CLI::App* const verb = AddVerb(
      noun, "compare",
      "Which trials are better, by paired tests on what they said of each "
      "example",
      invocation,
      [args](Session& session) { return CompareTrials(session, *args); });
  verb->add_option("TRIAL", args->contenders,
                   "STUDY/N, or STUDY/N,M,… for runs of one setting with "
                   "different seeds; the first is what others are compared "
                   "with")
      ->required()
      ->expected(2, 16);
  verb->add_option("--metric", args->metric,
                   "Of the final metrics; else the first objective");
  verb->add_option("--set", args->set,
                   "By their outcomes on this set: test, or the id of a data "
                   "set; else the validation set");
  verb->add_option("--task", args->task, "Of studies of several tasks");
  verb->add_option("--margin", args->margin,
                   "Also test whether the others are worse by as much")
      ->check(AtLeastZero());
  verb->add_flag("--repeats", args->repeats,
                 "Each stands for all trials that succeeded at its point");
  verb->add_flag("--all-pairs", args->all_pairs,
                 "Each with each, instead of each with the first");
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli
