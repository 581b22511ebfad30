// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/notes.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study_create.h"
#include "cli/commands/trial_log.h"
#include "cli/commands/trial_outcomes.h"
#include "cli/term/terminal.h"
#include "cli/view/comparison_view.h"
#include "cli/view/format.h"
#include "cli/view/trial_view.h"
#include "frostline/v1/comparison.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "proto/wire_error.h"

namespace frostline::cli {

void AddTrialList(CLI::App& noun, Invocation& invocation);

// `frostline trial list`: all trials of a study, those with a filter, or the
// best.

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

// Returns whether rates of modules are needed, which only the larger FULL view
// has.
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

// Lists the best trial or the Pareto set; with --limit that many of the best.
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

// `frostline trial compare`.

// Parses "imdb/12", "imdb/12,15" (runs of one setting with different seeds) or
// "studies/imdb/trials/12".
absl::StatusOr<v1::Contender> ContenderFrom(const std::string& argument);

void AddTrialCompare(CLI::App& noun, Invocation& invocation);

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

namespace {

constexpr std::int64_t kMostShownTrials = 1'000'000'000;

struct TrialArgs {
  TrialWords trial;
  std::string reason;
  bool from_checkpoint = false;
  std::uint64_t seed = 0;  // 0: what the trial trained with
  Output output;
};

absl::StatusOr<ExitCode> ShowTrial(Session& session, const TrialArgs& args) {
  v1::GetTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_view(v1::TRIAL_VIEW_FULL);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::GetTrial, request));
  v1::Study study;
  const bool for_people = args.output.format == Format::kTable;
  if (for_people) {
    ASSIGN_OR_RETURN(study,
                     FetchStudy(*client, StudyNameOfTrial(request.name())));
  }
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, trial,
                           [&] { return RenderTrial(trial, study.spec()); }));
  return kExitOk;
}

absl::StatusOr<ExitCode> CancelOne(Session& session, const TrialArgs& args) {
  v1::CancelTrialRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_reason(args.reason);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::CancelTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

absl::StatusOr<ExitCode> RetryOne(Session& session, const TrialArgs& args) {
  v1::RetryTrialRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_from_checkpoint(args.from_checkpoint);
  request.set_seed(args.seed);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::RetryTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

CLI::App* AddTrialVerb(CLI::App& noun, Invocation& invocation,
                       const std::shared_ptr<TrialArgs>& args,
                       const std::string& name, const std::string& help,
                       absl::StatusOr<ExitCode> (*verb)(Session&,
                                                        const TrialArgs&)) {
  return AddStudyTrial(
      noun, name, help, invocation, args->trial,
      [args, verb](Session& session) { return verb(session, *args); });
}

void AddLog(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialLogArgs>();
  CLI::App* const log = AddStudyTrial(
      noun, "log", "Print the last lines of a trial's log", invocation,
      args->trial,
      [args](Session& session) { return ShowLog(session, *args); });
  log->add_option("--attempt", args->attempt, "Not of the newest attempt")
      ->check(CLI::Range(std::int64_t{1}, kMostShownTrials));
  log->add_flag("-f,--follow", args->follow,
                "Print new lines as they come, until the trial has ended");
  log->add_flag("--json", args->json,
                "The lines and where all of the log lies, as JSON; with "
                "--follow an object a line");
}

}  // namespace

void AddTrialCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "trial", "List, show, compare, cancel and retry trials");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<TrialArgs>();
  AddTrialList(*noun, invocation);
  AddOneFormats(
      AddTrialVerb(*noun, invocation, args, "show",
                   "Show one trial: rates, metrics, attempts", ShowTrial),
      args->output);
  AddTrialCompare(*noun, invocation);
  AddTrialOutcomes(*noun, invocation);
  AddTrialCurves(*noun, invocation);
  AddTrialEnqueue(*noun, invocation);
  AddTrialLabel(*noun, invocation);
  AddTrialOutcomeRows(*noun, invocation);
  AddTrialTell(*noun, invocation);
  AddLog(*noun, invocation);
  AddTrialVerb(*noun, invocation, args, "cancel", "Cancel one trial", CancelOne)
      ->add_option("--reason", args->reason, "For people");
  CLI::App* const retry = AddTrialVerb(
      *noun, invocation, args, "retry",
      "Run an ended trial's point again, as a new trial", RetryOne);
  CLI::Option* const from_checkpoint =
      retry->add_flag("--from-checkpoint", args->from_checkpoint,
                      "Go on from its last checkpoint");
  retry
      ->add_option("--seed", args->seed,
                   "Train with this seed; else with the trial's own")
      ->check(CLI::Range(std::uint64_t{1},
                         std::numeric_limits<std::uint64_t>::max()))
      ->excludes(from_checkpoint);
}

// `frostline trial label` and `trial note`.

namespace {

// The most bytes of labels that a study or a trial may have.
constexpr std::size_t kMaxTrialLabelsBytes = 64 << 10;

struct TrialLabelArgs {
  TrialWords trial;
  std::vector<std::string> more;
  Output output = {};
};

absl::StatusOr<v1::Trial> FetchTrialLabels(Client& client,
                                           const std::string& name) {
  v1::GetTrialRequest request;
  request.set_name(name);
  return client.Call(&v1::StudyService::Stub::GetTrial, request);
}

absl::StatusOr<v1::Trial> UpdateTrial(Client& client, const std::string& path,
                                      v1::UpdateTrialRequest request) {
  request.set_request_id(NewRequestId(SystemClock()));
  request.mutable_update_mask()->add_paths(path);
  absl::StatusOr<v1::Trial> updated =
      client.Call(&v1::StudyService::Stub::UpdateTrial, request);
  if (!updated.ok()) return AsUsage(updated.status());
  return updated;
}

std::string TrialLabelsText(const v1::Trial& trial) {
  const std::string labels =
      proto::CleanText(FormatLabels(trial.labels()), kMaxTrialLabelsBytes);
  return trial.name() +
         (labels.empty() ? " has no labels" : " is labelled " + labels) + "\n";
}

absl::StatusOr<ExitCode> LabelTrial(Session& session,
                                    const TrialLabelArgs& args) {
  std::vector<std::string> changes = args.more;
  v1::UpdateTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(),
                   TrialNameFrom(args.trial, &changes));
  LabelMap tried;
  RETURN_IF_ERROR(ChangeLabels(changes, "KEY=VALUE", tried));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(v1::Trial trial, FetchTrialLabels(*client, request.name()));
  if (!changes.empty()) {
    *request.mutable_labels() = trial.labels();
    RETURN_IF_ERROR(
        ChangeLabels(changes, "KEY=VALUE", *request.mutable_labels()));
    ASSIGN_OR_RETURN(trial, UpdateTrial(*client, "labels", std::move(request)));
  }
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, trial,
                           [&trial] { return TrialLabelsText(trial); }));
  return kExitOk;
}

absl::StatusOr<ExitCode> NoteTrial(Session& session,
                                   const TrialLabelArgs& args) {
  std::vector<std::string> words = args.more;
  v1::UpdateTrialRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial, &words));
  if (words.size() > 1) {
    return MakeError(ErrorId::kRequestInvalid, "the note is more than one word",
                     "write it in quotes, or - for standard input", "TEXT");
  }
  const bool is_new = !words.empty();
  if (is_new) {
    ASSIGN_OR_RETURN(*request.mutable_note(), ReadNote(words[0]));
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const absl::StatusOr<v1::Trial> trial =
      is_new ? UpdateTrial(*client, "note", request)
             : FetchTrialLabels(*client, request.name());
  RETURN_IF_ERROR(trial.status());
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output, *trial, [&] {
    return NoteText(trial->name(), trial->note(), is_new);
  }));
  return kExitOk;
}

}  // namespace

void AddTrialLabel(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<TrialLabelArgs>();
  CLI::App* const label = AddStudyTrial(
      noun, "label", "Set labels of a trial, take some away, or show them",
      invocation, args->trial,
      [args](Session& session) { return LabelTrial(session, *args); });
  label->add_option("KEY=VALUE", args->more,
                    "Set this label; KEY- takes it away");
  AddOneFormats(label, args->output);
  CLI::App* const note = AddStudyTrial(
      noun, "note", "Write a trial's note, or show it", invocation, args->trial,
      [args](Session& session) { return NoteTrial(session, *args); });
  note->add_option("TEXT", args->more,
                   "The note; - is standard input, '' takes it away");
  AddOneFormats(note, args->output);
}

}  // namespace frostline::cli
