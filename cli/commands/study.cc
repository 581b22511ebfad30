// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/study.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "base/nearest.h"
#include "base/plain/json.h"
#include "cli/commands/command.h"
#include "cli/commands/registry.h"
#include "cli/commands/trial.h"
#include "cli/live/text_plot.h"
#include "cli/report/trial_figures.h"
#include "cli/study_file/study_file.h"
#include "cli/term/table.h"
#include "cli/term/terminal.h"
#include "cli/view/format.h"
#include "cli/view/message_text.h"
#include "cli/view/plan_view.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

struct StudyArgs {
  std::string id;
  std::string reason;
  std::string filter;
  Output output;
};

// Each best score costs a call, of which a caller has a share.
constexpr std::size_t kMostBest = 100;

// Returns the best trial's result of the first studies, by the study's name.
// What has been deleted meanwhile has none.
absl::StatusOr<std::map<std::string, Cell>> BestCells(
    Client& client, const v1::ListStudiesReply& all) {
  std::map<std::string, Cell> cells;
  for (const v1::Study& study : all.studies()) {
    if (cells.size() == kMostBest) break;
    if (study.best_trials().empty()) continue;
    const auto best = FetchTrial(client, study.best_trials(0));
    if (absl::IsNotFound(best.status())) continue;
    RETURN_IF_ERROR(best.status());
    cells[study.name()] = BestCell(*best, study.spec());
  }
  return cells;
}

// Returns whether the studies are shown with their best results, each of which
// costs a call.
bool ShowsBest(const Output& output) {
  if (output.format != Format::kTable && output.format != Format::kWide &&
      output.format != Format::kCsv) {
    return false;
  }
  return output.columns.empty() ||
         absl::EqualsIgnoreCase(absl::StripPrefix(output.sort, "-"), "best") ||
         std::any_of(output.columns.begin(), output.columns.end(),
                     [](const std::string& column) {
                       return absl::EqualsIgnoreCase(column, "best");
                     });
}

absl::StatusOr<ExitCode> ListStudies(Session& session, const StudyArgs& args) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::ListStudiesRequest request;
  request.set_filter(args.filter);
  ASSIGN_OR_RETURN(
      const v1::ListStudiesReply all,
      client->CallForAll(&v1::StudyService::Stub::ListStudies, request));
  std::map<std::string, Cell> best;
  if (ShowsBest(args.output)) {
    ASSIGN_OR_RETURN(best, BestCells(*client, all));
  }
  return PrintList(
      session.terminal, args.output, all,
      [&all, &best](bool wide) {
        return StudyTable({all.studies().begin(), all.studies().end()}, best,
                          wide);
      },
      args.filter.empty()
          ? "no studies; create one with `frostline study create FILE`"
          : "no such studies");
}

// Returns the study as text. With several objectives it shows the Pareto set in
// place of the best trial.
absl::StatusOr<std::string> Description(const Session& session, Client& client,
                                        const v1::Study& study) {
  if (study.spec().objectives_size() <= 1) {
    ASSIGN_OR_RETURN(const auto best, FetchBest(client, study));
    return RenderStudy(study, best, session.terminal.width);
  }
  ASSIGN_OR_RETURN(const auto front, FetchBestTrials(client, study.name()));
  std::string text = RenderStudy(study, std::nullopt, session.terminal.width);
  if (front.trials().empty()) return text;
  return absl::StrCat(
      text, "\n",
      RenderFront({front.trials().begin(), front.trials().end()}, study.spec(),
                  session.terminal.width));
}

absl::StatusOr<ExitCode> ShowStudy(Session& session, const StudyArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  std::string text;
  if (args.output.format == Format::kTable) {
    ASSIGN_OR_RETURN(text, Description(session, *client, study));
  }
  return PrintOne(session.terminal, args.output, study,
                  [&text] { return text; });
}

absl::StatusOr<ExitCode> PrintStudies(const Session& session,
                                      const Output& output,
                                      const absl::StatusOr<v1::Study>& study) {
  RETURN_IF_ERROR(study.status());
  return PrintOne(session.terminal, output, *study, [&study] {
    return absl::StrCat("study ", LastPart(study->name()), " is ",
                        NameOf(study->state()), "\n");
  });
}

// Runs pause, resume or stop, which differ only in their messages.
template <typename Request, typename Method>
absl::StatusOr<ExitCode> Turn(Session& session, const StudyArgs& args,
                              Request request, Method method) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  request.set_name(name);
  return PrintStudies(session, args.output, client->Call(method, request));
}

absl::StatusOr<ExitCode> Pause(Session& session, const StudyArgs& args) {
  v1::PauseStudyRequest request;
  request.set_reason(args.reason);
  return Turn(session, args, request, &v1::StudyService::Stub::PauseStudy);
}

absl::StatusOr<ExitCode> Resume(Session& session, const StudyArgs& args) {
  return Turn(session, args, v1::ResumeStudyRequest(),
              &v1::StudyService::Stub::ResumeStudy);
}

absl::StatusOr<ExitCode> Stop(Session& session, const StudyArgs& args,
                              bool let_running_finish) {
  v1::StopStudyRequest request;
  request.set_reason(args.reason);
  request.set_let_running_finish(let_running_finish);
  return Turn(session, args, request, &v1::StudyService::Stub::StopStudy);
}

void AddCommon(CLI::App* verb, StudyArgs* args) {
  verb->add_option("ID", args->id, "The study")->required();
  AddOneFormats(verb, args->output);
}

void AddPauseAndResume(CLI::App& noun, Invocation& invocation) {
  const auto [pause, paused] =
      AddVerb(noun, "pause", "Lease no more trials; running ones go on",
              invocation, Pause);
  AddCommon(pause, paused);
  pause->add_option("--reason", paused->reason, "Shown to whoever asks why");
  const auto [resume, resumed] =
      AddVerb(noun, "resume", "Lease trials again", invocation, Resume);
  AddCommon(resume, resumed);
}

void AddStop(CLI::App& noun, Invocation& invocation) {
  const auto [stop, args, finish] =
      AddVerb(noun, "stop", "End a study for good", invocation, Stop);
  AddCommon(stop, args);
  stop->add_option("--reason", args->reason, "Shown to whoever asks why");
  stop->add_flag("--let-running-finish", *finish,
                 "Running trials end by themselves instead of being stopped");
}

}  // namespace

void AddStudyCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "study", "Create, list, watch, change and stop studies");
  AddStudyBest(*noun, invocation);
  AddStudyCreate(*noun, invocation);
  const auto [list, args] =
      AddVerb(*noun, "list", "List all studies", invocation, ListStudies);
  list->add_option("--filter", args->filter,
                   "Only those: 'state = ACTIVE AND labels.team = \"nlp\"'; "
                   "`frostline help filter`")
      ->type_name("TERMS");
  AddListFormats(list, args->output);
  AddWide(list, args->output, "Whose they are, and their labels");
  const auto [show, shown] =
      AddVerb(*noun, "show", "Show one study and its best trial", invocation,
              ShowStudy);
  AddCommon(show, shown);
  AddStudyWatch(*noun, invocation);
  AddStudyHistory(*noun, invocation);
  AddStudyUpdate(*noun, invocation);
  AddPauseAndResume(*noun, invocation);
  AddStop(*noun, invocation);
  AddStudyClone(*noun, invocation);
  AddStudyDelete(*noun, invocation);
  AddStudyDiff(*noun, invocation);
  AddStudyExport(*noun, invocation);
  AddStudyImport(*noun, invocation);
  AddStudyLabel(*noun, invocation);
  AddStudyWait(*noun, invocation);
  AddStudyWhy(*noun, invocation);
}

// `frostline study why`: why nothing, or so little, is running.

namespace {

struct WhyArgs {
  TrialWords asked;
  Output output = {};
};

// Returns the command that starts a worker for the study; "" for any other fix.
std::string WorkerFix(Client& client, const std::string& study,
                      const v1::ExplainStudyReply::Reason& reason) {
  const bool is_lacking =
      reason.code() == "NO_WORKERS" || reason.code() == "NO_MATCHING_LABELS";
  const auto found = FetchStudy(client, study);
  if (!is_lacking || !found.ok()) return "";
  const auto& required = found->settings().required_worker_labels();
  const auto trainer = required.find("trainer");
  if (trainer == required.end() || required.size() > 1) return "";
  return absl::StrCat(
      "start one with this trainer: frostline worker --connect ",
      client.address(), " --exec ",
      ShellWord(proto::CleanText(trainer->second, proto::kMaxCauseBytes)));
}

std::string FixFor(Client& client, const std::string& study,
                   const v1::ExplainStudyReply::Reason& reason) {
  const std::string fix = WorkerFix(client, study, reason);
  return fix.empty() ? IdleFix(reason, client.address()) : fix;
}

std::string ReasonsText(const v1::ExplainStudyReply& why, Client& client,
                        const std::string& study) {
  std::string text;
  for (const v1::ExplainStudyReply::Reason& reason : why.reasons()) {
    absl::StrAppend(&text,
                    proto::CleanText(reason.sentence(), proto::kMaxCauseBytes),
                    "\n");
    if (reason.fix().empty()) continue;
    absl::StrAppend(&text, "  fix: ", FixFor(client, study, reason), "\n");
  }
  if (text.empty()) text = "nothing holds it up\n";
  return absl::StrCat(
      text, "workers: ", why.live_workers(), " live, ", why.matching_workers(),
      why.matching_workers() == 1 ? " of them fits" : " of them fit",
      " it, with ", Counted(why.free_slots(), "free slot"), "\n");
}

absl::StatusOr<ExitCode> Why(Session& session, const WhyArgs& args) {
  v1::ExplainStudyRequest request;
  const bool of_trial =
      !args.asked.number.empty() || TrialNameFrom(args.asked).ok();
  if (of_trial) {
    ASSIGN_OR_RETURN(const std::string name, TrialNameFrom(args.asked));
    ASSIGN_OR_RETURN(const TrialName trial, ParseTrialName(name));
    request.set_name(StudyNameOf(trial.study_id));
    request.set_trial_number(trial.number);
  } else {
    ASSIGN_OR_RETURN(*request.mutable_name(), StudyNameFrom(args.asked.study));
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(
      const v1::ExplainStudyReply why,
      client->Call(&v1::StudyService::Stub::ExplainStudy, request));
  return PrintOne(session.terminal, args.output, why,
                  [&] { return ReasonsText(why, *client, request.name()); });
}

}  // namespace

namespace {

constexpr Duration kGraceForWorkers = std::chrono::seconds(3);
constexpr Duration kBetweenLooks = std::chrono::milliseconds(250);

std::optional<v1::ExplainStudyReply::Reason> FirstReason(
    Client& client, const std::string& study) {
  v1::ExplainStudyRequest request;
  request.set_name(study);
  const auto why = client.Call(&v1::StudyService::Stub::ExplainStudy, request);
  if (!why.ok() || why->reasons().empty()) return std::nullopt;
  return why->reasons(0);
}

}  // namespace

void SayWhyNothingRuns(Client& client, const std::string& study) {
  const SystemClock clock;
  const SteadyTime until = clock.Steady() + kGraceForWorkers;
  auto reason = FirstReason(client, study);
  const bool waits = reason && reason->code() == "NO_WORKERS";
  while (reason && reason->code() == "NO_WORKERS" && clock.Steady() < until) {
    std::this_thread::sleep_for(kBetweenLooks);
    reason = FirstReason(client, study);
  }
  if (!reason) return;
  // One that came needs time, unless it is of no use to the study.
  const std::string& code = reason->code();
  if (waits && code != "NO_WORKERS" && code != "NO_MATCHING_LABELS" &&
      code != "NOT_IN_STOCK") {
    return;
  }
  std::string text = absl::StrCat(
      "nothing runs yet: ",
      proto::CleanText(reason->sentence(), proto::kMaxCauseBytes), "\n");
  const std::string fix = FixFor(client, study, *reason);
  if (!fix.empty()) absl::StrAppend(&text, "  fix: ", fix, "\n");
  Notes() << text << std::flush;
}

absl::Status WithNearestStudy(Session& session, const absl::Status& status) {
  const std::string said = "there is no study ";
  const std::string cause(status.message());
  if (!HasErrorId(status, ErrorId::kStudyNotFound) ||
      !absl::StartsWith(cause, said)) {
    return status;
  }
  const auto client = OpenClient(session);
  if (!client.ok()) return status;
  const auto studies = (*client)->Call(&v1::StudyService::Stub::ListStudies,
                                       v1::ListStudiesRequest());
  if (!studies.ok()) return status;
  std::vector<std::string> ids;
  for (const v1::Study& study : studies->studies()) {
    ids.push_back(LastPart(study.name()));
  }
  const std::string near = Nearest(cause.substr(said.size()), ids);
  if (near.empty()) return status;
  const auto detail = DetailOf(status);
  return MakeError(ErrorId::kStudyNotFound, cause,
                   absl::StrCat("did you mean '", near, "'? ", detail->fix),
                   detail->field);
}

void AddStudyWhy(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "why", "Why nothing, or so little, is running, and what to do",
      invocation, Why);
  verb->add_option("ID", args->asked.study, "The study, or STUDY/NUMBER")
      ->required();
  verb->add_option("NUMBER", args->asked.number,
                   "Of this trial too: where it is, or how it ended");
  AddOneFormats(verb, args->output);
}

// `frostline study diff`: the fields in which two studies differ. The exit code
// is that of `diff`: 0 for no difference, 1 for some.

namespace {

struct DiffArgs {
  std::string from;
  std::string to;
  bool json = false;
};

// One side of a comparison: a study, or a file that a coordinator completes.
struct Side {
  v1::Study study;  // spec and settings alone count
  std::optional<StudyFile> file;
};

bool IsFile(const std::string& word) {
  return word == "-" || absl::EndsWith(word, ".yaml") ||
         absl::EndsWith(word, ".yml") || absl::StartsWith(word, "/") ||
         absl::StartsWith(word, ".");
}

absl::StatusOr<Side> ReadSide(Session& session, const std::string& word) {
  Side side;
  if (IsFile(word)) {
    ASSIGN_OR_RETURN(side.file, ReadStudyFile(word));
    *side.study.mutable_spec() = side.file->spec;
    *side.study.mutable_settings() = side.file->settings;
    return side;
  }
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(word));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(side.study, FetchStudy(*client, name));
  return side;
}

// Completes a file's spec: fills in what the file leaves open and the
// coordinator has chosen in the study on the other side.
absl::Status CompleteSpec(Session& session, const Side& other, Side& side) {
  v1::CreateStudyRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  // Not the file's own id: of a study that is there only that would be said.
  request.set_study_id(request.request_id());
  request.set_validate_only(true);
  *request.mutable_spec() = side.study.spec();
  *request.mutable_settings() = side.study.settings();
  if (request.spec().seed() == 0) {
    request.mutable_spec()->set_seed(other.study.spec().seed());
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  const absl::StatusOr<v1::CreateStudyReply> reply =
      client->Call(&v1::StudyService::Stub::CreateStudy, request);
  if (!reply.ok()) return PlaceError(reply.status(), *side.file);
  side.study = reply->study();
  return absl::OkStatus();
}

// Compares as one message, so that paths are those of a study file.
std::vector<FieldChange> Changes(const v1::Study& from, const v1::Study& to) {
  std::vector<FieldChange> changes = FieldChanges(from.spec(), to.spec());
  v1::StudySettings before = from.settings();
  v1::StudySettings after = to.settings();
  // What the first trial decided is no wish of anybody.
  before.clear_auto_precision();
  after.clear_auto_precision();
  for (FieldChange& change : FieldChanges(before, after)) {
    changes.push_back(std::move(change));
  }
  return changes;
}

absl::StatusOr<ExitCode> Diff(Session& session, const DiffArgs& args) {
  if (args.from == "-" && args.to == "-") {
    return MakeError(ErrorId::kRequestInvalid,
                     "standard input cannot be both studies",
                     "name one of them");
  }
  ASSIGN_OR_RETURN(Side from, ReadSide(session, args.from));
  ASSIGN_OR_RETURN(Side to, ReadSide(session, args.to));
  if (from.file.has_value() != to.file.has_value()) {
    RETURN_IF_ERROR(from.file.has_value() ? CompleteSpec(session, to, from)
                                          : CompleteSpec(session, from, to));
  }
  const std::vector<FieldChange> changes = Changes(from.study, to.study);
  std::cout << (args.json ? FieldChangesToJson(changes)
                          : RenderFieldChanges(changes));
  return changes.empty() ? kExitOk : kExitFailure;
}

}  // namespace

void AddStudyDiff(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "diff", "Which fields of two studies differ: exit code 1 if any",
      invocation, Diff);
  verb->add_option("FROM", args->from,
                   "A study, or a study file, named by .yaml or a path")
      ->required();
  verb->add_option("TO", args->to, "The other one")->required();
  verb->add_flag("--json", args->json, "As JSON: {\"differences\": […]}");
}

// `frostline study best`: the points that did best, all runs of each together.

namespace {

constexpr int kUsualPoints = 5;

struct BestArgs {
  std::string id;
  int top = kUsualPoints;
  bool distinct = false;
  bool yaml = false;
  Output output;
};

std::string FrozenIn(const v1::Trial& trial) {
  std::vector<std::string> modules;
  for (const v1::ModuleRate& rate : trial.rates()) {
    if (rate.rate() == 0.0) modules.push_back(rate.module());
  }
  return absl::StrJoin(modules, " ");
}

// Chooses points. With --distinct each one freezes other modules than all
// before.
std::vector<RankedPoint> Chosen(const std::vector<RankedPoint>& points,
                                const BestArgs& args) {
  std::vector<RankedPoint> chosen;
  std::set<std::string> frozen;
  for (const RankedPoint& point : points) {
    if (static_cast<int>(chosen.size()) == args.top) break;
    const bool is_new = frozen.insert(FrozenIn(point.trials[0])).second;
    if (is_new || !args.distinct) chosen.push_back(point);
  }
  return chosen;
}

std::string NumbersOf(const RankedPoint& point) {
  return absl::StrJoin(point.trials, ", ",
                       [](std::string* out, const v1::Trial& trial) {
                         absl::StrAppend(out, trial.number());
                       });
}

Table AsTable(const std::vector<RankedPoint>& points) {
  Table table({{"SCORE", Align::kRight},
               {"RUNS", Align::kRight},
               {"JUDGED", Align::kRight},
               {"TRIALS", Align::kLeft, 1},
               {.title = "RATES", .wraps = true}});
  for (const RankedPoint& point : points) {
    table.AddCells({NumberCell(point.mean),
                    {absl::StrCat(point.trials.size())},
                    NumberCell(point.judged),
                    {NumbersOf(point)},
                    {RatesInShort(point.trials[0].rates())}});
  }
  return table;
}

std::string ValuesOf(const RankedPoint& point) {
  JsonObject values;
  for (const v1::ParameterValue& value : point.values()) {
    const bool is_number =
        value.value().kind_case() == google::protobuf::Value::kNumberValue;
    values.Put(value.name(), is_number
                                 ? JsonNumber(value.value().number_value())
                                 : JsonString(FormatValue(value.value())));
  }
  return values.Text(JsonLayout::kSpaced);
}

// Returns entries of `enqueue` for a study file.
std::string AsYaml(const std::vector<RankedPoint>& points) {
  std::string text = "enqueue:\n";
  for (const RankedPoint& point : points) {
    absl::StrAppend(&text, "  # judged ", FormatNumber(point.judged), ", mean ",
                    FormatNumber(point.mean), ", trials ", NumbersOf(point),
                    "\n  - values: ", ValuesOf(point), "\n");
  }
  return text;
}

std::string AsJson(const std::vector<RankedPoint>& points) {
  std::vector<std::string> all;
  all.reserve(points.size());
  for (const RankedPoint& point : points) {
    std::vector<std::string> trials;
    trials.reserve(point.trials.size());
    for (const v1::Trial& trial : point.trials) {
      trials.push_back(absl::StrCat(trial.number()));
    }
    all.push_back(JsonObject()
                      .Put("judged", JsonNumber(point.judged))
                      .Put("mean", JsonNumber(point.mean))
                      .Put("trials", JsonList(trials, JsonLayout::kSpaced))
                      .Put("values", ValuesOf(point))
                      .Text(JsonLayout::kSpaced));
  }
  return JsonObject()
             .Put("points", JsonList(all, JsonLayout::kIndented))
             .Text() +
         "\n";
}

absl::StatusOr<ExitCode> Best(Session& session, const BestArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const auto points, FetchRankedPoints(*client, name));
  const std::vector<RankedPoint> chosen = Chosen(points, args);
  const bool yaml = args.yaml || args.output.format == Format::kYaml;
  if (yaml && !chosen.empty()) {
    PrintPaged(session.terminal, AsYaml(chosen));
  } else {
    RETURN_IF_ERROR(
        PrintListJson(
            session.terminal, args.output, AsJson(chosen),
            [&chosen](bool) { return AsTable(chosen); },
            absl::StrCat("no trial of ", LastPart(name), " has succeeded yet"))
            .status());
  }
  return chosen.empty() ? kExitNoResult : kExitOk;
}

}  // namespace

void AddStudyBest(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "best", "The best points, all runs of each together",
              invocation, Best);
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--top", args->top, "How many")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--distinct", args->distinct,
                 "Each freezes other modules than those before it");
  AddListFormats(verb, args->output);
  verb->add_flag("--yaml", args->yaml,
                 "As entries of a study file's enqueue; --format yaml")
      ->excludes(verb->get_option("--json"))
      ->excludes(verb->get_option("--format"));
}

// `frostline study history`: what each trial reached, and what was best so far.

namespace {

struct HistoryArgs {
  std::string id;
  std::string objective;
  int width = 0;
  int height = kPlotLines;
};

constexpr int kNarrowest = 20;
constexpr int kWidestHistory = 1000;
constexpr int kLowest = 3;
constexpr int kHighest = 200;

absl::StatusOr<int> IndexOf(const v1::StudySpec& spec,
                            const std::string& metric) {
  if (metric.empty()) return 0;
  std::string known;
  for (int i = 0; i < spec.objectives_size(); ++i) {
    if (spec.objectives(i).metric() == metric) return i;
    absl::StrAppend(&known, i == 0 ? "" : ", ", spec.objectives(i).metric());
  }
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", metric, "' is no objective of the study"),
                   absl::StrCat("give one of: ", known), "--objective");
}

// The trials by number; a trial without a value has no point.
struct ShownHistory {
  Curve values;
  Curve best;
};

ShownHistory HistoryOf(const v1::ListTrialsReply& trials, int objective,
                       bool higher_is_better) {
  std::vector<std::pair<double, double>> points;
  for (const v1::Trial& trial : trials.trials()) {
    if (trial.values_size() <= objective) continue;
    points.emplace_back(static_cast<double>(trial.number()),
                        trial.values(objective));
  }
  std::sort(points.begin(), points.end());
  ShownHistory history;
  std::optional<double> best;
  for (const auto& [number, value] : points) {
    const bool is_better = value == value &&  // not NaN
                           (!best.has_value() ||
                            (higher_is_better ? value > *best : value < *best));
    if (is_better) best = value;
    if (best.has_value()) history.best.points.emplace_back(number, *best);
  }
  history.values.points = std::move(points);
  return history;
}

absl::StatusOr<ExitCode> ShowHistory(Session& session,
                                     const HistoryArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  ASSIGN_OR_RETURN(const int objective, IndexOf(study.spec(), args.objective));
  ASSIGN_OR_RETURN(const v1::ListTrialsReply trials,
                   FetchTrials(*client, name, "state = SUCCEEDED"));
  const v1::Objective& wanted = study.spec().objectives(objective);
  const bool higher = wanted.direction() == v1::DIRECTION_MAXIMIZE;
  const ShownHistory history = HistoryOf(trials, objective, higher);
  int width = args.width;
  if (width == 0) width = session.terminal.width;
  if (width == 0) width = kPlotColumns;
  const std::string caption = absl::StrCat(
      wanted.metric(), " by trial number, ", higher ? "higher" : "lower",
      " is better; o a trial, the line: best so far");
  std::cout << WrapText(caption, width)
            << PlotHistory(history.values, history.best, width, args.height);
  return kExitOk;
}

}  // namespace

void AddStudyHistory(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      noun, "history", "Plot what each trial reached, and the best so far",
      invocation, ShowHistory);
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--objective", args->objective,
                   "One of its metrics; else the first")
      ->type_name("METRIC");
  verb->add_option("--width", args->width,
                   "Columns; else the terminal's, or 80")
      ->check(CLI::Range(kNarrowest, kWidestHistory));
  verb->add_option("--height", args->height, "Lines of the plot")
      ->check(CLI::Range(kLowest, kHighest))
      ->capture_default_str();
}

}  // namespace frostline::cli
