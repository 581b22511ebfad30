// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/commands/importance_flags.h"
#include "cli/view/format.h"
#include "cli/view/importance_csv.h"
#include "cli/view/importance_svg.h"
#include "cli/view/importance_view.h"

namespace frostline {
namespace {

using Stub = v1::ImportanceService::Stub;

constexpr int kPairsPage = 1'000;

struct ImportanceArgs {
  std::string study;
  QuestionFlags question;
  std::vector<std::string> parameters;
  bool pairs = false;
  bool groups = false;
  bool marginals = false;
  bool stability = false;
  OutputFlags output;

  int parts() const { return pairs + groups + marginals + stability; }
};

// What a call asks, of which study.
struct Asked {
  Client* client = nullptr;
  std::string study;
  v1::ImportanceOptions options;
  int width = 0;
};

template <typename Request, typename Reply>
absl::StatusOr<Reply> Fetch(const Asked& asked,
                            grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                         const Request&,
                                                         Reply*)) {
  Request request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  return asked.client->Call(method, request);
}

absl::StatusOr<v1::PairMarginal> FetchTable(const Asked& asked) {
  v1::GetPairMarginalRequest request;
  request.set_study(asked.study);
  request.set_first(asked.options.parameters(0));
  request.set_second(asked.options.parameters(1));
  *request.mutable_options() = asked.options;
  return asked.client->Call(&Stub::GetPairMarginal, request);
}

absl::StatusOr<v1::ListPairsReply> FetchPairs(const Asked& asked) {
  v1::ListPairsRequest request;
  request.set_study(asked.study);
  *request.mutable_options() = asked.options;
  request.set_page_size(kPairsPage);
  v1::ListPairsReply all;
  do {
    ASSIGN_OR_RETURN(const v1::ListPairsReply page,
                     asked.client->Call(&Stub::ListPairs, request));
    all.MergeFrom(page);
    all.clear_next_page_token();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return all;
}

// With --pairs and two names: the table of those two.
bool WantsTable(const ImportanceArgs& args) {
  return args.pairs && args.parameters.size() == 2;
}

absl::StatusOr<std::string> TextOf(const ImportanceArgs& args,
                                   const Asked& asked) {
  ASSIGN_OR_RETURN(const v1::ImportanceReport report,
                   Fetch(asked, &Stub::GetReport));
  std::string text = RenderImportance(report, asked.width);
  const RateNames rates = RatesIn(report);
  if (args.groups) text += RenderGroups(report, asked.width);
  if (WantsTable(args)) {
    ASSIGN_OR_RETURN(const v1::PairMarginal table, FetchTable(asked));
    absl::StrAppend(&text, "\n", RenderPairMarginal(table, rates, asked.width));
  } else if (args.pairs) {
    text += RenderPairs(report, asked.width);
  }
  if (args.marginals) {
    ASSIGN_OR_RETURN(const v1::GetMarginalsReply curves,
                     Fetch(asked, &Stub::GetMarginals));
    absl::StrAppend(&text, "\n", RenderMarginals(curves, rates, asked.width));
  }
  if (args.stability) {
    ASSIGN_OR_RETURN(const v1::GetStabilityReply reply,
                     Fetch(asked, &Stub::GetStability));
    text += RenderStability(reply, asked.width);
  }
  return text;
}

template <typename Message>
absl::StatusOr<std::string> Formatted(const absl::StatusOr<Message>& message,
                                      const std::string& format,
                                      std::string (*csv)(const Message&),
                                      std::string (*svg)(const Message&)) {
  RETURN_IF_ERROR(message.status());
  if (format == "json") return ToJson(*message);
  return format == "csv" ? csv(*message) : svg(*message);
}

// For programs: one message, in a form that holds one.
absl::StatusOr<std::string> PartOf(const ImportanceArgs& args,
                                   const Asked& asked,
                                   const std::string& format) {
  if (WantsTable(args)) {
    return Formatted(FetchTable(asked), format, PairMarginalCsv,
                     PairMarginalSvg);
  }
  if (args.marginals) {
    return Formatted(Fetch(asked, &Stub::GetMarginals), format, MarginalsCsv,
                     MarginalsSvg);
  }
  if (format == "svg" && args.parts() > 0) {
    return MakeError(ErrorId::kRequestInvalid, "there is no picture of that",
                     "use --marginals, --pairs with two --parameter, or none");
  }
  if (args.pairs) {
    return Formatted<v1::ListPairsReply>(FetchPairs(asked), format, PairsCsv,
                                         nullptr);
  }
  if (args.stability) {
    return Formatted<v1::GetStabilityReply>(Fetch(asked, &Stub::GetStability),
                                            format, StabilityCsv, nullptr);
  }
  return Formatted(Fetch(asked, &Stub::GetReport), format,
                   args.groups ? GroupsCsv : ImportanceCsv, ImportanceSvg);
}

absl::StatusOr<std::string> Rendered(const ImportanceArgs& args,
                                     const Asked& asked) {
  const std::string format = args.output.Format();
  if (format == "table") return TextOf(args, asked);
  if (args.parts() <= 1) return PartOf(args, asked, format);
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(format, " holds one thing at a time"),
                   "give one of --pairs, --groups, --marginals, --stability");
}

absl::StatusOr<ExitCode> Importance(Session& session,
                                    const ImportanceArgs& args) {
  Asked asked;
  ASSIGN_OR_RETURN(asked.study, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(asked.options, args.question.Options());
  for (const std::string& name : args.parameters) {
    asked.options.add_parameters(name);
  }
  ASSIGN_OR_RETURN(asked.client, Connect(session));
  asked.width = args.output.file.empty() ? session.terminal.width : 0;
  const absl::StatusOr<std::string> text = Rendered(args, asked);
  if (!text.ok()) return AsUsage(text.status());
  RETURN_IF_ERROR(args.output.Write(*text));
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
  args->question.AddTo(*verb);
  verb->add_option("--parameter", args->parameters,
                   "Show this one, and pairs with it; may be given again")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--pairs", args->pairs,
                 "Pairs too; of two --parameter their table");
  verb->add_flag("--groups", args->groups, "Embeddings, thirds, head too");
  verb->add_flag("--marginals", args->marginals,
                 "What each value is expected to bring");
  verb->add_flag("--stability", args->stability,
                 "The ranking over the study's first trials");
  args->output.AddTo(*verb, {"table", "json", "csv", "svg"});
  verb->footer(
      "Examples:\n"
      "  frostline importance imdb\n"
      "  frostline importance imdb --target train_seconds --pairs\n"
      "  frostline importance imdb --marginals --format svg -o curves.svg");
}

}  // namespace frostline
