// SPDX-License-Identifier: Apache-2.0
//
// `frostline trial list`: all trials of a study, those of a kind, the best.
#include "cli/commands/trial_list.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "cli/client/notes.h"
#include "cli/commands/output_flags.h"
#include "cli/view/format.h"
#include "cli/view/space_names.h"
#include "cli/view/trial_table.h"
#include "cli/view/trial_view.h"

namespace frostline::cli {
namespace {

constexpr int kTrialPageSize = 1000;
constexpr std::int64_t kMostListedTrials = 1'000'000'000;

struct TrialListArgs {
  std::string study;
  std::string state;
  std::string filter;
  std::int64_t limit = 0;  // 0: all
  bool best = false;
  Output output;
};

std::vector<std::string> StateNames() {
  std::vector<std::string> names;
  for (int i = v1::TrialState_MIN + 1; i <= v1::TrialState_MAX; ++i) {
    names.push_back(NameOf(static_cast<v1::TrialState>(i)));
  }
  return names;
}

// Rates of modules are in the FULL view alone, which is larger.
bool NeedsRates(const Output& output) {
  const auto is_rate = [](const std::string& column) {
    return absl::StartsWithIgnoreCase(absl::StripPrefix(column, "-"), "rate.");
  };
  if (is_rate(output.sort)) return true;
  if (output.columns.empty()) return output.format == Format::kCsv;
  return std::any_of(output.columns.begin(), output.columns.end(), is_rate);
}

std::string TrialFilterOf(const TrialListArgs& args) {
  if (args.state.empty()) return args.filter;
  return absl::StrCat("state = ", args.state,
                      args.filter.empty() ? "" : " AND ", args.filter);
}

absl::StatusOr<v1::ListTrialsReply> FetchListedTrials(
    Client& client, const v1::Study& study, const TrialListArgs& args) {
  v1::ListTrialsRequest request;
  request.set_parent(study.name());
  request.set_filter(TrialFilterOf(args));
  if (NeedsRates(args.output) && !ModuleNames(study.spec()).empty()) {
    request.set_view(v1::TRIAL_VIEW_FULL);
  }
  // What is sorted here is cut behind that.
  const bool all = args.limit == 0 || !args.output.sort.empty();
  if (all)
    return client.CallForAll(&v1::StudyService::Stub::ListTrials, request);
  v1::ListTrialsReply some;
  do {
    request.set_page_size(static_cast<std::int32_t>(std::min<std::int64_t>(
        args.limit - some.trials_size(), kTrialPageSize)));
    ASSIGN_OR_RETURN(const v1::ListTrialsReply page,
                     client.Call(&v1::StudyService::Stub::ListTrials, request));
    some.MergeFrom(page);
    some.clear_next_page_token();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty() && some.trials_size() < args.limit);
  return some;
}

template <typename Reply>
absl::Status PrintTrials(const Terminal& terminal, const Output& output,
                         const Reply& reply, const v1::StudySpec& spec,
                         const std::string& none) {
  return PrintList(
      terminal, output, reply,
      [&reply, &spec](bool wide) {
        return TrialTable(reply.trials(), spec, wide);
      },
      none);
}

// The best trial or the Pareto set, with --limit as many of the best.
absl::StatusOr<ExitCode> ListBest(Session& session, const TrialListArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  v1::ListBestTrialsRequest request;
  request.set_name(name);
  request.set_limit(static_cast<std::int32_t>(args.limit));
  ASSIGN_OR_RETURN(
      const v1::ListBestTrialsReply best,
      client->Call(&v1::StudyService::Stub::ListBestTrials, request));
  const bool is_front = study.spec().objectives_size() > 1 && args.limit == 0 &&
                        !best.trials().empty();
  if (is_front && args.output.format == Format::kTable) {
    std::cout << FrontHeading(static_cast<std::size_t>(best.trials_size()),
                              session.terminal.width);
  }
  RETURN_IF_ERROR(PrintTrials(session.terminal, args.output, best, study.spec(),
                              "no trial has succeeded"));
  if (best.truncated()) Notes() << "there are more than fit an answer\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> ListTrials(Session& session, TrialListArgs args) {
  if (args.best) return ListBest(session, args);
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.study));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  ASSIGN_OR_RETURN(const v1::ListTrialsReply trials,
                   FetchListedTrials(*client, study, args));
  if (!args.output.sort.empty()) args.output.limit = args.limit;
  RETURN_IF_ERROR(PrintTrials(session.terminal, args.output, trials,
                              study.spec(), "no such trials"));
  return kExitOk;
}

}  // namespace

void AddTrialList(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialListArgs>();
  CLI::App* const list =
      AddVerb(noun, "list", "List the trials of a study", invocation,
              [args](Session& session) { return ListTrials(session, *args); });
  list->add_option("STUDY", args->study, "The study")->required();
  CLI::Option* const state =
      list->add_option("--state", args->state, "Only trials of this state")
          ->transform(CLI::IsMember(StateNames(), CLI::ignore_case));
  CLI::Option* const filter =
      list->add_option("--filter", args->filter,
                       "Only those: 'accuracy > 0.9 AND origin = SAMPLED'; "
                       "`frostline help filter`")
          ->type_name("TERMS");
  list->add_flag("--best", args->best,
                 "The best; with several objectives the Pareto set")
      ->excludes(state)
      ->excludes(filter);
  list->add_option("--limit", args->limit, "At most so many, once sorted")
      ->check(CLI::Range(std::int64_t{1}, kMostListedTrials));
  AddListFormats(list, args->output);
}

}  // namespace frostline::cli
