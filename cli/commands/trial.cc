// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/trial.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/rng.h"
#include "cli/client/client.h"
#include "cli/commands/command.h"
#include "cli/commands/set_field.h"
#include "cli/commands/study_create.h"
#include "cli/commands/trial_results.h"
#include "cli/term/terminal.h"
#include "cli/view/difference_view.h"
#include "cli/view/format.h"
#include "cli/view/outcomes_view.h"
#include "cli/view/trial_view.h"
#include "frostline/v1/comparison.pb.h"
#include "frostline/v1/importance_service.pb.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::int64_t kMostTrialWords = 1'000'000'000;

absl::Status NoTrial(const std::string& words) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("\"", words, "\" names no trial"),
                   "write STUDY NUMBER or STUDY/NUMBER, e.g. imdb/17; "
                   "`frostline trial list STUDY` shows their numbers");
}

// Returns "imdb/17" for "studies/imdb/trials/17".
std::string Shortened(const std::string& word) {
  return absl::StrReplaceAll(absl::StripPrefix(word, "studies/"),
                             {{"/trials/", "/"}});
}

absl::StatusOr<TrialName> TrialFrom(const std::string& study,
                                    const std::string& digits) {
  TrialName trial;
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(study));
  ASSIGN_OR_RETURN(trial.study_id, ParseStudyName(name));
  const bool starts_well =
      !digits.empty() &&
      absl::ascii_isdigit(static_cast<unsigned char>(digits.front()));
  if (!starts_well || !absl::SimpleAtoi(digits, &trial.number) ||
      trial.number > kMostTrialWords) {
    return NoTrial(absl::StrCat(study, "/", digits));
  }
  return trial;
}

}  // namespace

void AddTrialWords(CLI::App& verb, TrialWords& words) {
  verb.add_option("STUDY", words.study, "The study, or STUDY/NUMBER")
      ->required();
  verb.add_option("NUMBER", words.number, "The trial's number");
}

absl::StatusOr<std::string> TrialNameFrom(const TrialWords& words,
                                          std::vector<std::string>* more) {
  const std::string word = Shortened(words.study);
  const std::size_t slash = word.find('/');
  if (slash == std::string::npos) {
    if (words.number.empty()) return NoTrial(words.study);
    ASSIGN_OR_RETURN(const TrialName trial, TrialFrom(word, words.number));
    return TrialNameOf(trial.study_id, trial.number);
  }
  if (!words.number.empty()) {
    if (more == nullptr) {
      return NoTrial(absl::StrCat(words.study, " ", words.number));
    }
    more->insert(more->begin(), words.number);
  }
  ASSIGN_OR_RETURN(const TrialName trial,
                   TrialFrom(word.substr(0, slash), word.substr(slash + 1)));
  return TrialNameOf(trial.study_id, trial.number);
}

std::string StudyNameOfTrial(const std::string& trial) {
  return trial.substr(0, trial.find("/trials/"));
}

absl::StatusOr<std::vector<TrialName>> TrialNamesFrom(
    const std::vector<std::string>& words) {
  std::vector<TrialName> trials;
  std::string study;
  for (const std::string& given : words) {
    const std::string word = Shortened(given);
    const std::size_t slash = word.find('/');
    if (slash == std::string::npos && study.empty()) {
      RETURN_IF_ERROR(StudyNameFrom(word).status());
      study = word;
      continue;
    }
    if (slash != std::string::npos) study = word.substr(0, slash);
    ASSIGN_OR_RETURN(
        TrialName trial,
        TrialFrom(study,
                  slash == std::string::npos ? word : word.substr(slash + 1)));
    trials.push_back(std::move(trial));
  }
  if (trials.empty()) return NoTrial(study);
  return trials;
}

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
absl::StatusOr<ExitCode> PrintTrials(const Terminal& terminal,
                                     const Output& output, const Reply& reply,
                                     const v1::StudySpec& spec,
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
                              "no trial has succeeded")
                      .status());
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
  return PrintTrials(session.terminal, args.output, trials, study.spec(),
                     args.filter.empty() && args.state.empty()
                         ? "no trials yet"
                         : "no such trials");
}

}  // namespace

void AddTrialList(CLI::App& noun, Invocation& invocation) {
  const auto [list, args] = AddVerb(noun, "list", "List the trials of a study",
                                    invocation, ListTrials);
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
  bool why = false;
  Output output;
};

absl::Status WhyIsOfTwo() {
  return MakeError(ErrorId::kRequestInvalid,
                   "--why explains the difference between two trials of one "
                   "study",
                   "write STUDY/N STUDY/M, with --metric at most");
}

// Splits "studies/imdb/trials/12".
absl::StatusOr<std::pair<std::string, std::int64_t>> StudyAndNumber(
    const v1::Contender& contender) {
  if (contender.trials_size() != 1) return WhyIsOfTwo();
  const std::string& name = contender.trials(0);
  const std::size_t at = name.find("/trials/");
  std::int64_t number = 0;
  if (at == std::string::npos ||
      !absl::SimpleAtoi(name.substr(at + std::string("/trials/").size()),
                        &number)) {
    return WhyIsOfTwo();
  }
  return std::pair(name.substr(0, at), number);
}

absl::StatusOr<ExitCode> ExplainTrials(Session& session,
                                       const TrialCompareArgs& args) {
  if (args.contenders.size() != 2 || args.repeats || args.all_pairs ||
      args.margin > 0.0 || !args.set.empty() || !args.task.empty()) {
    return AsUsage(WhyIsOfTwo());
  }
  v1::ExplainDifferenceRequest request;
  ASSIGN_OR_RETURN(const v1::Contender first,
                   ContenderFrom(args.contenders[0]));
  ASSIGN_OR_RETURN(const v1::Contender second,
                   ContenderFrom(args.contenders[1]));
  const auto one = StudyAndNumber(first);
  const auto other = StudyAndNumber(second);
  if (!one.ok()) return AsUsage(one.status());
  if (!other.ok()) return AsUsage(other.status());
  if (one->first != other->first) return AsUsage(WhyIsOfTwo());
  request.set_study(one->first);
  request.set_first_trial(one->second);
  request.set_second_trial(other->second);
  request.mutable_options()->set_target(args.metric);
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  absl::StatusOr<v1::DifferenceExplanation> difference;
  {
    const BusyLine busy(session.terminal, "explaining");
    difference =
        client->Call(&v1::ImportanceService::Stub::ExplainDifference, request);
  }
  if (!difference.ok()) return AsUsage(difference.status());
  return PrintOne(session.terminal, args.output, *difference, [&] {
    return RenderDifference(*difference, session.terminal.width);
  });
}

absl::StatusOr<ExitCode> CompareTrials(Session& session,
                                       const TrialCompareArgs& args) {
  if (args.why) return ExplainTrials(session, args);
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
  return PrintOne(session.terminal, args.output, *comparison, [&] {
    return RenderTrialComparison(*comparison, session.terminal.width);
  });
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
  const auto [verb, args] = AddVerb(
      noun, "compare",
      "Which trials are better, by paired tests on what they said of each "
      "example",
      invocation, CompareTrials);
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
  verb->add_flag("--why", args->why,
                 "Which parameter made the difference of two trials of one "
                 "study, and how much is luck");
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
  ASSIGN_OR_RETURN(const std::string name, TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   FetchTrial(*client, name, v1::TRIAL_VIEW_FULL));
  v1::Study study;
  const bool for_people = args.output.format == Format::kTable;
  if (for_people) {
    ASSIGN_OR_RETURN(study, FetchStudy(*client, StudyNameOfTrial(name)));
  }
  return PrintOne(session.terminal, args.output, trial,
                  [&] { return RenderTrial(trial, study.spec()); });
}

absl::StatusOr<ExitCode> CancelOne(Session& session, const TrialArgs& args) {
  v1::CancelTrialRequest request;
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
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_from_checkpoint(args.from_checkpoint);
  request.set_seed(args.seed);
  ASSIGN_OR_RETURN(const v1::Trial trial,
                   client->Call(&v1::StudyService::Stub::RetryTrial, request));
  std::cout << trial.name() << " is " << NameOf(trial.state()) << "\n";
  return kExitOk;
}

void AddLog(CLI::App& noun, Invocation& invocation) {
  const auto [log, args] =
      AddTrialVerb(noun, "log", "Print the last lines of a trial's log",
                   invocation, ShowLog);
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
  CLI::App* const noun =
      AddNoun(app, "trial", "List, show, compare, cancel and retry trials");
  AddTrialList(*noun, invocation);
  const auto [show, shown] =
      AddTrialVerb(*noun, "show", "Show one trial: rates, metrics, attempts",
                   invocation, ShowTrial);
  AddOneFormats(show, shown->output);
  AddTrialCompare(*noun, invocation);
  AddTrialOutcomes(*noun, invocation);
  AddTrialCurves(*noun, invocation);
  AddTrialEnqueue(*noun, invocation);
  AddTrialLabel(*noun, invocation);
  AddTrialOutcomeRows(*noun, invocation);
  AddTrialTell(*noun, invocation);
  AddLog(*noun, invocation);
  const auto [cancel, cancelled] =
      AddTrialVerb(*noun, "cancel", "Cancel one trial", invocation, CancelOne);
  cancel->add_option("--reason", cancelled->reason, "For people");
  const auto [retry, args] = AddTrialVerb(
      *noun, "retry", "Run an ended trial's point again, as a new trial",
      invocation, RetryOne);
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

absl::StatusOr<v1::Trial> UpdateTrial(Client& client, const std::string& path,
                                      v1::UpdateTrialRequest request) {
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
  ASSIGN_OR_RETURN(v1::Trial trial, FetchTrial(*client, request.name()));
  if (!changes.empty()) {
    *request.mutable_labels() = trial.labels();
    RETURN_IF_ERROR(
        ChangeLabels(changes, "KEY=VALUE", *request.mutable_labels()));
    ASSIGN_OR_RETURN(trial, UpdateTrial(*client, "labels", std::move(request)));
  }
  return PrintOne(session.terminal, args.output, trial,
                  [&trial] { return TrialLabelsText(trial); });
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
             : FetchTrial(*client, request.name());
  RETURN_IF_ERROR(trial.status());
  return PrintOne(session.terminal, args.output, *trial, [&] {
    return NoteText(trial->name(), trial->note(), is_new);
  });
}

}  // namespace

void AddTrialLabel(CLI::App& noun, Invocation& invocation) {
  const auto [label, args] = AddTrialVerb(
      noun, "label", "Set labels of a trial, take some away, or show them",
      invocation, LabelTrial);
  label->add_option("KEY=VALUE", args->more,
                    "Set this label; KEY- takes it away");
  AddOneFormats(label, args->output);
  const auto [note, written] = AddTrialVerb(
      noun, "note", "Write a trial's note, or show it", invocation, NoteTrial);
  note->add_option("TEXT", written->more,
                   "The note; - is standard input, '' takes it away");
  AddOneFormats(note, written->output);
}

namespace {

// The wait for a log. The worker of a running trial is asked and answers within
// a second; a worker of an earlier version answers with its next heartbeat.
constexpr int kLogWaitSeconds = 25;

absl::Status ExplainNoLog(Client& client, const std::string& name) {
  ASSIGN_OR_RETURN(const v1::Trial trial, FetchTrial(client, name));
  std::cerr << DescribeNoLog(trial);
  return absl::OkStatus();
}

// Explains the log. REQUIRES: it is the log of an attempt.
void ExplainLog(const std::string& name, const v1::GetTrialLogReply& log) {
  if (log.state() != v1::ATTEMPT_STATE_RUNNING) {
    std::cerr << DescribeLogPlace(name, log);
  } else if (!log.live()) {
    std::cerr << "its worker did not answer within " << kLogWaitSeconds
              << " s: see `frostline worker list`\n"
              << DescribeLogPlace(name, log);
  } else if (log.tail().empty()) {
    std::cerr << "the log has no lines yet\n";
  }
}

}  // namespace

absl::StatusOr<ExitCode> ShowLog(Session& session, const TrialLogArgs& args) {
  if (args.follow) return FollowLog(session, args);
  v1::GetTrialLogRequest request;
  ASSIGN_OR_RETURN(*request.mutable_name(), TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_attempt(args.attempt);
  request.mutable_wait()->set_seconds(kLogWaitSeconds);
  ASSIGN_OR_RETURN(const v1::GetTrialLogReply log,
                   client->Call(&v1::StudyService::Stub::GetTrialLog, request));
  if (args.json) {
    std::cout << LogToJson(request.name(), log, /*is_line=*/false);
  } else if (log.attempt() == 0) {
    RETURN_IF_ERROR(ExplainNoLog(*client, request.name()));
  } else {
    std::cout << log.tail() << std::flush;
    ExplainLog(request.name(), log);
  }
  return kExitOk;
}

// `frostline trial log --follow`: one call waits at the coordinator for more
// bytes after the last one that was printed.

namespace {

constexpr int kWaitSeconds = 20;
constexpr Duration kPatience = std::chrono::minutes(10);
constexpr Duration kFirstPause = std::chrono::milliseconds(200);
constexpr Duration kLongestLogPause = std::chrono::seconds(10);
// The pause between two polls of a trial without news.
constexpr Duration kPause = std::chrono::milliseconds(500);
constexpr std::size_t kMostTail = std::size_t{64} << 10;

bool IsPassingLog(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsResourceExhausted(status);
}

class Follower {
 public:
  Follower(Client& client, std::string name, const TrialLogArgs& args)
      : client_(client), name_(std::move(name)), args_(args) {}

  absl::StatusOr<v1::Trial> Run();

 private:
  // Asks again while the coordinator is away.
  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> Ask(Method method, const Request& request);
  absl::StatusOr<v1::Trial> Look();
  // Until the attempt has ended.
  absl::Status FollowAttempt();
  // Answers whether anything was new.
  bool Print(v1::GetTrialLogReply log);

  Client& client_;
  const std::string name_;
  const TrialLogArgs args_;
  const SystemClock clock_;
  Rng rng_{static_cast<std::uint64_t>(clock_.Steady().count())};
  std::int64_t attempt_ = 0;
  std::optional<std::int64_t> after_;  // bytes of the attempt's log so far
  std::string tail_;   // the last of them, for who does not count
  std::string place_;  // what is said of an attempt that has ended
};

template <typename Reply, typename Method, typename Request>
absl::StatusOr<Reply> Follower::Ask(Method method, const Request& request) {
  Backoff backoff(kFirstPause, kLongestLogPause);
  const SteadyTime begin = clock_.Steady();
  bool has_said = false;
  while (true) {
    absl::StatusOr<Reply> reply = client_.Call(method, request);
    const bool goes_on = !reply.ok() && IsPassingLog(reply.status()) &&
                         clock_.Steady() - begin < kPatience;
    if (!goes_on) return reply;
    if (!std::exchange(has_said, true)) {
      Notes() << "the coordinator is away (" << reply.status().message()
              << "); asking again\n";
    }
    std::this_thread::sleep_for(backoff.Next(rng_));
  }
}

absl::StatusOr<v1::Trial> Follower::Look() {
  v1::GetTrialRequest request;
  request.set_name(name_);
  return Ask<v1::Trial>(&v1::StudyService::Stub::GetTrial, request);
}

absl::StatusOr<v1::Trial> Follower::Run() {
  std::int64_t followed = 0;
  while (true) {
    ASSIGN_OR_RETURN(v1::Trial trial, Look());
    const std::int64_t wanted =
        args_.attempt > 0 ? args_.attempt : trial.attempt();
    if (wanted != followed) {
      std::cerr << std::exchange(place_, "");
      if (wanted > 1) std::cerr << name_ << ": attempt " << wanted << "\n";
      attempt_ = followed = wanted;
      after_.reset();
      tail_.clear();
      RETURN_IF_ERROR(FollowAttempt());
    } else if (args_.attempt > 0 || IsEnded(trial.state())) {
      std::cerr << place_;
      return trial;
    } else if (trial.state() == v1::TRIAL_STATE_RUNNING) {
      // Its lease had been given up for lost, and was taken up again.
      RETURN_IF_ERROR(FollowAttempt());
    }
    if (wanted == 0 || !IsEnded(trial.state())) {
      std::this_thread::sleep_for(kPause);
    }
  }
}

absl::Status Follower::FollowAttempt() {
  v1::GetTrialLogRequest request;
  request.set_name(name_);
  request.set_attempt(attempt_);
  request.mutable_wait()->set_seconds(kWaitSeconds);
  while (true) {
    if (after_.has_value()) request.set_after(*after_);
    ASSIGN_OR_RETURN(const v1::GetTrialLogReply log,
                     Ask<v1::GetTrialLogReply>(
                         &v1::StudyService::Stub::GetTrialLog, request));
    const bool is_new = Print(log);
    if (log.live() || log.place().end() > 0) after_ = log.place().end();
    if (log.state() != v1::ATTEMPT_STATE_RUNNING) {
      place_ = DescribeLogPlace(name_, log);
      return absl::OkStatus();
    }
    if (log.live() && !is_new) std::this_thread::sleep_for(kPause);
  }
}

bool Follower::Print(v1::GetTrialLogReply log) {
  const std::int64_t end = log.place().end();
  if (end == 0) {
    // It does not matter who answered: each answer is the whole tail.
    log.set_tail(BeyondTail(tail_, log.tail()));
  } else if (after_.has_value()) {
    const std::int64_t lost =
        end - *after_ - static_cast<std::int64_t>(log.tail().size());
    if (lost > 0) std::cerr << "(" << lost << " bytes came too fast)\n";
  }
  const std::string& fresh = log.tail();
  tail_ += fresh;
  if (tail_.size() > kMostTail) tail_.erase(0, tail_.size() - kMostTail);
  const bool is_over = log.state() != v1::ATTEMPT_STATE_RUNNING;
  if (args_.json && (is_over || !fresh.empty())) {
    std::cout << LogToJson(name_, log, /*is_line=*/true) << std::flush;
  } else if (!args_.json) {
    std::cout << fresh << std::flush;
  }
  return !fresh.empty();
}

}  // namespace

absl::StatusOr<ExitCode> FollowLog(Session& session, const TrialLogArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, TrialNameFrom(args.trial));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study about,
                   FetchStudy(*client, StudyNameOfTrial(name)));
  Follower follower(*client, name, args);
  ASSIGN_OR_RETURN(const v1::Trial trial, follower.Run());
  if (trial.attempt() == 0) std::cerr << DescribeNoLog(trial);
  std::cerr << DescribeOutcome(trial, about.spec());
  return kExitOk;
}

}  // namespace frostline::cli
