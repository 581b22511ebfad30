// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/importance.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/live/text_plot.h"
#include "cli/term/terminal.h"
#include "cli/view/difference_view.h"
#include "cli/view/format.h"
#include "cli/view/importance_view.h"
#include "cli/view/plan_view.h"
#include "cli/view/svg.h"

namespace frostline::cli {
namespace {

using ImportanceStub = v1::ImportanceService::Stub;

// Returns how to get more trials. A stopped study takes no more, but a copy of
// it does. If the study has enough trials, the question counts too few of them,
// and a larger budget does not help.
std::string WayToMoreTrials(const v1::Study& study) {
  const std::string id = LastPart(study.name());
  const std::int64_t lacking = kImportanceTrials - study.counts().succeeded();
  if (lacking <= 0) {
    return absl::StrCat("let more of its ", study.counts().succeeded(),
                        " trials count: a larger --top, a wider --filter, an "
                        "--at-step or a --target that more of them have");
  }
  const std::int64_t budget = study.counts().budget_used() + lacking;
  if (study.state() == v1::STUDY_STATE_COMPLETED) {
    return absl::StrCat("raise its budget: frostline study update ", id,
                        " --budget ", budget);
  }
  return absl::StrCat("go on in a copy: frostline study clone ", id, " ", id,
                      "-2 --with-trials --trials ", budget);
}

}  // namespace

absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked) {
  v1::GetPairMarginalRequest request;
  request.set_study(asked.study);
  request.set_first(asked.options.parameters(0));
  request.set_second(asked.options.parameters(1));
  *request.mutable_options() = asked.options;
  return asked.client->Call(&ImportanceStub::GetPairMarginal, request);
}

absl::StatusOr<std::optional<v1::Frontier>> FetchFrontier(
    const Asked& asked, const v1::ImportanceReport& report) {
  const std::string& target = report.options().target();
  const bool is_cost =
      target == "train_seconds" || target == "trained_parameters";
  const bool has_modules =
      std::any_of(report.parameters().begin(), report.parameters().end(),
                  [](const v1::ParameterImportance& row) {
                    return row.modules_size() > 0;
                  });
  std::optional<v1::Frontier> none;
  if (is_cost || !has_modules || asked.options.parameters_size() > 0) {
    return none;
  }
  v1::GetFrontierRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  request.mutable_options()->clear_subsets();
  request.mutable_options()->clear_tunability();
  absl::StatusOr<v1::Frontier> frontier =
      asked.client->Call(&ImportanceStub::GetFrontier, request);
  // The report can be made where the frontier cannot.
  if (HasErrorId(frontier.status(), ErrorId::kRequestInvalid) ||
      HasErrorId(frontier.status(), ErrorId::kTrialsTooFew)) {
    return none;
  }
  RETURN_IF_ERROR(frontier.status());
  return std::optional<v1::Frontier>(*std::move(frontier));
}

absl::Status HelpEndedStudy(Client& client, const std::string& study,
                            const absl::Status& status) {
  if (!HasErrorId(status, ErrorId::kTrialsTooFew)) return status;
  const auto now = FetchStudy(client, study);
  if (!now.ok() || !IsEnded(now->state())) return status;
  return MakeError(ErrorId::kTrialsTooFew, std::string(status.message()),
                   WayToMoreTrials(*now));
}

absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked) {
  v1::ListPairsRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  return asked.client->CallForAll(&ImportanceStub::ListPairs,
                                  std::move(request));
}

namespace {

using ReportStub = v1::ImportanceService::Stub;

struct ImportanceArgs {
  std::string study;
  QuestionFlags question;
  std::vector<std::string> parameters;
  std::vector<std::string> subsets;
  bool pairs = false;
  bool groups = false;
  bool marginals = false;
  bool stability = false;
  bool tunability = false;
  bool plot = false;
  Output output;

  int parts() const {
    return pairs + groups + marginals + stability + tunability +
           !subsets.empty();
  }
};

// Returns whether --pairs has two names, which asks for the table of those two.
bool WantsTable(const ImportanceArgs& args) {
  return args.pairs && args.parameters.size() == 2;
}

absl::StatusOr<std::string> ImportanceTextOf(const ImportanceArgs& args,
                                             const Asked& asked) {
  ASSIGN_OR_RETURN(const v1::ImportanceReport report,
                   Fetch(asked, &ReportStub::GetReport));
  ASSIGN_OR_RETURN(const auto frontier, FetchFrontier(asked, report));
  std::string text = RenderImportance(
      report,
      frontier.has_value()
          ? absl::StrCat(RenderFrontierInShort(*frontier, asked.width), "\n")
          : "",
      asked.width);
  const RateNames rates = RatesIn(report);
  if (args.groups) text += RenderGroups(report, asked.width);
  if (WantsTable(args)) {
    ASSIGN_OR_RETURN(const v1::PairMarginal table, FetchTable(asked));
    absl::StrAppend(&text, "\n", RenderPairMarginal(table, rates, asked.width));
  } else if (args.pairs) {
    text += RenderPairs(report, asked.width);
  }
  if (!args.subsets.empty()) text += RenderSubsets(report, asked.width);
  if (args.tunability) text += RenderTunability(report, asked.width);
  if (args.marginals) {
    ASSIGN_OR_RETURN(const v1::GetMarginalsReply curves,
                     Fetch(asked, &ReportStub::GetMarginals));
    absl::StrAppend(&text, "\n", RenderMarginals(curves, rates, asked.width));
  }
  if (args.stability) {
    ASSIGN_OR_RETURN(const v1::GetStabilityReply reply,
                     Fetch(asked, &ReportStub::GetStability));
    text += RenderStability(reply, asked.width);
  }
  return text;
}

// Returns the modules of the best trial and whether it froze them; none before
// there is a best trial.
absl::StatusOr<std::map<std::string, bool>> FrozenModules(const Asked& asked) {
  ASSIGN_OR_RETURN(const v1::Study study,
                   FetchStudy(*asked.client, asked.study));
  ASSIGN_OR_RETURN(const auto best, FetchBest(*asked.client, study));
  std::map<std::string, bool> is_frozen;
  if (!best.has_value()) return is_frozen;
  for (const v1::ModuleRate& rate : best->rates()) {
    is_frozen[rate.module()] = rate.rate() == 0.0;
  }
  return is_frozen;
}

absl::StatusOr<std::string> PlotOf(const Asked& asked) {
  ASSIGN_OR_RETURN(const v1::ImportanceReport report,
                   Fetch(asked, &ReportStub::GetReport));
  ASSIGN_OR_RETURN(const auto is_frozen, FrozenModules(asked));
  return absl::StrCat(
      Verdict(report.verdict(), asked.width),
      PlotImportance(report, is_frozen,
                     asked.width > 0 ? asked.width : kPlotColumns));
}

template <typename Message>
absl::StatusOr<std::string> Formatted(const absl::StatusOr<Message>& message,
                                      Format format,
                                      std::string (*csv)(const Message&),
                                      std::string (*svg)(const Message&)) {
  RETURN_IF_ERROR(message.status());
  if (IsForMessages(format)) return MessageText(format, *message);
  return format == Format::kCsv ? csv(*message) : svg(*message);
}

// Returns one message for programs, in a format that can hold one.
absl::StatusOr<std::string> PartOf(const ImportanceArgs& args,
                                   const Asked& asked) {
  const Format format = args.output.format;
  if (WantsTable(args)) {
    return Formatted(FetchTable(asked), format, PairMarginalCsv,
                     PairMarginalSvg);
  }
  if (args.marginals) {
    return Formatted(Fetch(asked, &ReportStub::GetMarginals), format,
                     MarginalsCsv, MarginalsSvg);
  }
  if (format == Format::kSvg && args.parts() > 0) {
    return MakeError(ErrorId::kRequestInvalid, "there is no picture of that",
                     "use --marginals, --pairs with two --parameter, or none");
  }
  if (args.pairs) {
    return Formatted<v1::ListPairsReply>(FetchPairs(asked), format, PairsCsv,
                                         nullptr);
  }
  if (args.stability) {
    return Formatted<v1::GetStabilityReply>(
        Fetch(asked, &ReportStub::GetStability), format, StabilityCsv, nullptr);
  }
  const auto csv = args.groups            ? GroupsCsv
                   : args.tunability      ? TunabilityCsv
                   : args.subsets.empty() ? ImportanceCsv
                                          : SubsetsCsv;
  return Formatted(Fetch(asked, &ReportStub::GetReport), format, csv,
                   ImportanceSvg);
}

absl::StatusOr<std::string> Rendered(const ImportanceArgs& args,
                                     const Asked& asked) {
  const Format format = args.output.format;
  if (args.plot && (format != Format::kTable || args.parts() > 0)) {
    return MakeError(ErrorId::kRequestInvalid,
                     "--plot is a picture of its own, for a terminal",
                     "leave out --plot, or all else");
  }
  if (args.plot) return PlotOf(asked);
  if (format == Format::kTable) return ImportanceTextOf(args, asked);
  if (args.parts() <= 1) return PartOf(args, asked);
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(FormatName(format), " holds one thing at a time"),
      "give one of --pairs, --groups, --subset, --marginals, "
      "--stability, --tunability");
}

absl::StatusOr<ExitCode> Importance(Session& session,
                                    const ImportanceArgs& args) {
  Asked asked;
  ASSIGN_OR_RETURN(asked.study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(asked.options, args.question.Options());
  for (const std::string& name : args.parameters) {
    asked.options.add_parameters(name);
  }
  for (const std::string& names : args.subsets) {
    ASSIGN_OR_RETURN(*asked.options.add_subsets(), ParseSubset(names));
  }
  asked.options.set_tunability(args.tunability);
  ASSIGN_OR_RETURN(asked.client, Connect(session));
  asked.width = args.output.file.empty() ? session.terminal.width : 0;
  absl::StatusOr<std::string> text;
  {
    const BusyLine busy(session.terminal, "importance");
    text = Rendered(args, asked);
  }
  if (!text.ok()) {
    return AsUsage(HelpEndedStudy(*asked.client, asked.study, text.status()));
  }
  if (args.output.file.empty() && args.output.format == Format::kTable) {
    PrintPaged(session.terminal, *text);
    return kExitOk;
  }
  RETURN_IF_ERROR(WriteText(args.output, *text));
  return kExitOk;
}

}  // namespace

void AddImportanceCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(app, "importance", "Which modules mattered, and how sure that is",
              invocation, Importance);
  verb->add_option("STUDY", args->study, "The study")->required();
  args->question.AddTo(*verb);
  verb->add_option("--parameter", args->parameters,
                   "Show this one, and pairs with it; may be given again")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_option("--subset", args->subsets,
                   "What these explain together: layer.0,layer.1,head; may be "
                   "given again")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--pairs", args->pairs,
                 "Pairs too; of two --parameter their table");
  verb->add_flag("--groups", args->groups, "Embeddings, thirds, head too");
  verb->add_flag("--marginals", args->marginals,
                 "What each value is expected to bring");
  verb->add_flag("--stability", args->stability,
                 "The ranking over the study's first trials");
  verb->add_flag("--tunability", args->tunability,
                 "What a rate of its own gains each module");
  verb->add_flag("--plot", args->plot,
                 "Bars with their intervals, instead of the table");
  AddFileFormats(verb, args->output,
                 {"table", "json", "jsonl", "yaml", "csv", "svg"});
}

namespace {

struct StudyCompareArgs {
  std::string first;
  std::string second;
  QuestionFlags question;
  Output output;
};

absl::StatusOr<ExitCode> CompareStudies(Session& session,
                                        const StudyCompareArgs& args) {
  v1::CompareStudiesRequest request;
  ASSIGN_OR_RETURN(*request.mutable_first(), StudyNameFrom(args.first));
  ASSIGN_OR_RETURN(*request.mutable_second(), StudyNameFrom(args.second));
  ASSIGN_OR_RETURN(*request.mutable_options(), args.question.Options());
  if (args.output.format == Format::kSvg) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat(args.output.file,
                     " ends as svg does, and of this there is no svg"),
        "end its name in one of .json, .jsonl, .yaml, .csv, or say --format",
        "--output");
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  absl::StatusOr<v1::StudyComparison> comparison;
  {
    const BusyLine busy(session.terminal, "comparing");
    comparison =
        client->Call(&v1::ImportanceService::Stub::CompareStudies, request);
  }
  if (!comparison.ok()) return AsUsage(comparison.status());
  const int width = args.output.file.empty() ? session.terminal.width : 0;
  RETURN_IF_ERROR(WriteOne(args.output, *comparison,
                           RenderComparison(*comparison, width),
                           ComparisonCsv(*comparison)));
  return kExitOk;
}

}  // namespace

void AddCompareCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "compare", "Whether the same modules mattered in two studies",
      invocation, CompareStudies);
  verb->add_option("FIRST", args->first, "A study")->required();
  verb->add_option("SECOND", args->second, "Another one")->required();
  args->question.AddTo(*verb);
  AddFileFormats(verb, args->output, {"table", "json", "jsonl", "yaml", "csv"});
}

}  // namespace frostline::cli
