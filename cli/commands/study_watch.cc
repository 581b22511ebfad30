// SPDX-License-Identifier: Apache-2.0
//
// `frostline study watch`: the stream of what changes, and beside it a look at
// what runs, since no change tells how far a trial is.
#include "cli/commands/study_watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/client.h"
#include "cli/client/watcher.h"
#include "cli/commands/command.h"
#include "cli/commands/registry.h"
#include "cli/commands/study.h"
#include "cli/live/running_trials.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// The most durations that are kept; more do not improve the estimate.
constexpr int kMostDurations = 500;

// Returns how many of the live workers' slots the study may use.
std::int64_t UsableSlots(const v1::Study& study, std::int64_t slots) {
  const std::int64_t most = study.settings().max_parallel() > 0
                                ? study.settings().max_parallel()
                                : study.useful_parallelism();
  return most > 0 ? std::min(slots, most) : slots;
}

}  // namespace

absl::Status WatchPrinter::Begin(const v1::Study& study) {
  const std::lock_guard<std::mutex> lock(mutex_);
  study_ = study;
  has_ended_ = IsEnded(study.state());
  RETURN_IF_ERROR(UpdateBest());
  RETURN_IF_ERROR(FetchDurations());
  if (has_ended_) return absl::OkStatus();  // End() has the line
  std::cout << StudyLine() << '\n' << std::flush;
  if (study.counts().running() == 0) SayWhyNothingRuns(client_, study.name());
  return absl::OkStatus();
}

absl::Status WatchPrinter::FetchDurations() {
  v1::ListTrialsRequest request;
  request.set_parent(study_.name());
  request.set_page_size(kMostDurations);
  ASSIGN_OR_RETURN(const v1::ListTrialsReply trials,
                   client_.Call(&v1::StudyService::Stub::ListTrials, request));
  for (const v1::Trial& trial : trials.trials()) {
    AddDuration(trial, &durations_);
  }
  return absl::OkStatus();
}

bool WatchPrinter::OnEvent(const v1::StudyEvent& event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  news_.Back();
  if (event.has_trial()) {
    TakeTrial(event.trial());
  } else if (event.has_study()) {
    TakeStudy(event.study());
  }
  // Trials come first, then the study, whose counts have them all.
  is_study_behind_ = event.has_trial();
  ShowArea();
  return !IsDone();
}

void WatchPrinter::TakeTrial(const v1::Trial& trial) {
  running_.TakeEvent(trial);
  if (!IsNews(trial)) return;
  AddDuration(trial, &durations_);
  if (!IsWorthALine(trial)) return;
  area_.Clear();
  std::cout << TrialLine(trial, study_.spec()) << '\n' << std::flush;
}

void WatchPrinter::OnBreak(const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  area_.Clear();
  is_study_behind_ = false;  // it may come no more
  news_.Lost(status);
}

void WatchPrinter::OnLook() {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.BeginLook();
}

void WatchPrinter::OnRunning(const std::vector<v1::Trial>& running,
                             std::int64_t slots) {
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.EndLook(running);
  slots_ = slots;
  ShowArea();
}

void WatchPrinter::PrintSummary() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::cout << StudyLine() << '\n' << std::flush;
}

ExitCode WatchPrinter::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  area_.Clear();
  std::cout << StudyLine() << '\n' << std::flush;
  if (!has_ended_) return kExitOk;
  ShowFront();
  return study_.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
}

// Prints the front: one line cannot show the best trials of several objectives.
void WatchPrinter::ShowFront() {
  if (!HasFront()) return;
  const auto front = FetchBestTrials(client_, study_.name());
  if (!front.ok() || front->trials().empty()) return;
  std::cout << RenderFront({front->trials().begin(), front->trials().end()},
                           study_.spec(), width_)
            << std::flush;
}

// Returns whether a change is news: reports are not, starts and ends are.
bool WatchPrinter::IsNews(const v1::Trial& trial) {
  const auto now = std::make_pair(trial.state(), trial.attempt());
  auto& last = last_seen_[trial.number()];
  return std::exchange(last, now) != now;
}

// Returns whether a change gets a line: in a log each trial gets one, on a
// terminal its start gets one too.
bool WatchPrinter::IsWorthALine(const v1::Trial& trial) const {
  return is_terminal_ || IsEnded(trial.state());
}

void WatchPrinter::TakeStudy(const v1::Study& study) {
  const bool changed = study.state() != study_.state();
  study_ = study;
  has_ended_ = IsEnded(study.state());
  // Without the best trial the line is shorter, not wrong.
  if (!UpdateBest().ok()) best_.reset();
  if (!changed || IsDone()) return;
  area_.Clear();
  std::cout << "study  " << NameOf(study.state()) << "  "
            << study.state_reason() << '\n'
            << std::flush;
}

absl::Status WatchPrinter::UpdateBest() {
  const bool known = best_.has_value() && study_.best_trials_size() > 0 &&
                     best_->name() == study_.best_trials(0);
  if (known) return absl::OkStatus();
  ASSIGN_OR_RETURN(best_, FetchBest(client_, study_));
  return absl::OkStatus();
}

std::string WatchPrinter::StatusText(const v1::Study& counted) const {
  std::string text =
      absl::StrCat(NameOf(study_.state()), "  ", ProgressText(counted));
  if (best_.has_value() && HasFront()) {
    absl::StrAppend(&text, ", Pareto set of ", study_.best_trials_size());
  } else if (best_.has_value()) {
    absl::StrAppend(&text, ", best ", ObjectiveText(*best_, study_.spec()),
                    " (trial ", best_->number(), ")");
  }
  const auto left =
      StudyTimeLeft(study_, durations_, UsableSlots(study_, slots_));
  if (!has_ended_ && left.has_value()) {
    absl::StrAppend(&text, ", left ", TimeLeftText(left));
  }
  return text;
}

std::string WatchPrinter::StudyLine() const {
  return absl::StrCat(LastPart(study_.name()), "  ", StatusText(study_));
}

// Shows the running trials in half of the screen at most, which leaves the rest
// to the lines. Nothing is shown between an event of a trial and that of its
// study, so that rows and counts agree.
void WatchPrinter::ShowArea() {
  if (is_study_behind_) return;
  std::vector<std::string> lines;
  std::vector<v1::Trial> running = running_.All();
  if (running_.are_all_known() && !running.empty()) {
    lines = RunningLines(std::move(running), durations_, clock_.Wall(),
                         LiveArea::Size().height / 2);
  }
  lines.push_back(StatusText(running_.Counted(study_)));
  area_.Show(std::move(lines));
}

// `frostline events`: the changes in order. `study watch --all` does the same
// for all studies from now on.

namespace {

constexpr std::size_t kMaxEventWord = 100;

struct EventsArgs {
  std::vector<std::string> studies;
  std::string since;
  bool json = false;
  bool once = false;
};

absl::StatusOr<std::optional<std::int64_t>> RevisionOf(const EventsArgs& args) {
  if (args.since == "all") return 0;
  // What has happened until now is all that there is to tell once.
  if (args.since.empty()) {
    return args.once ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  std::int64_t revision = 0;
  if (!absl::SimpleAtoi(args.since, &revision) || revision < 0) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat("--since: '", proto::CleanText(args.since, kMaxEventWord),
                     "' is no revision"),
        "give a study's revision, a number from 0, or all", "--since");
  }
  return revision;
}

// Prints events at once or, with --once, in the order of time.
class EventPrinter {
 public:
  EventPrinter(bool json, bool waits) : json_(json), waits_(waits) {}

  void Know(const v1::Study& study) { lines_.Know(study); }

  void Take(const v1::StudyEvent& event) {
    const std::string line = json_ ? EventJson(event) : lines_.LineOf(event);
    if (line.empty()) return;
    if (waits_) {
      waiting_.emplace_back(TimeOf(event), line);
    } else {
      std::cout << line << std::endl;
    }
  }

  void PrintWaiting() {
    std::stable_sort(
        waiting_.begin(), waiting_.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [time, line] : waiting_) std::cout << line << "\n";
  }

 private:
  const bool json_;
  const bool waits_;
  EventLines lines_;
  std::vector<std::pair<std::int64_t, std::string>> waiting_;
};

absl::StatusOr<ExitCode> Events(Session& session, const EventsArgs& args) {
  StudiesWatchOptions options;
  ASSIGN_OR_RETURN(options.after_revision, RevisionOf(args));
  options.follows = !args.once;
  for (const std::string& study : args.studies) {
    ASSIGN_OR_RETURN(std::string name, StudyNameFrom(study));
    options.studies.push_back(std::move(name));
  }
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  // The events of one study are in order already.
  EventPrinter printer(args.json, args.once && options.studies.size() != 1);
  ConnectionNews news(Notes());
  RETURN_IF_ERROR(
      WatchStudies(*client, options,
                   {.on_study = [&](const auto& study) { printer.Know(study); },
                    .on_event = [&](const auto& event) { printer.Take(event); },
                    .on_break = [&](const auto& status) { news.Lost(status); },
                    .on_back = [&] { news.Back(); }}));
  printer.PrintWaiting();
  return kExitOk;
}

}  // namespace

absl::StatusOr<ExitCode> WatchAllStudies(Session& session, bool json) {
  EventsArgs args;
  args.json = json;
  return Events(session, args);
}

void AddEventsCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(app, "events", "What changed, of one study or of all, in order",
              invocation, Events);
  verb->add_option("STUDY", args->studies,
                   "Of these; without any of all, and of those to come");
  verb->add_option("--since", args->since,
                   "Begin behind this revision of each study, or with all")
      ->type_name("REVISION|all");
  verb->add_flag("--once", args->once,
                 "End when all up to now is told; begins with all");
  verb->add_flag("--json", args->json, "A StudyEvent on each line");
}

namespace {

constexpr Duration kLookEvery = std::chrono::seconds(2);
constexpr Duration kSummaryEvery = std::chrono::minutes(1);

struct WatchArgs {
  std::string id;
  bool until_done = false;
  bool all = false;
  bool json = false;
};

// A thread that fetches the running trials until it is destroyed.
class RunningLooks {
 public:
  RunningLooks(Client& client, std::string study, bool is_terminal,
               WatchPrinter& printer)
      : client_(client),
        study_(std::move(study)),
        is_terminal_(is_terminal),
        printer_(printer),
        thread_([this] { Run(); }) {}
  ~RunningLooks() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_ending_ = true;
    }
    ends_.notify_all();
    thread_.join();
  }
  RunningLooks(const RunningLooks&) = delete;
  RunningLooks& operator=(const RunningLooks&) = delete;

 private:
  // The first look is at once; off a terminal nobody sees it.
  void Run() {
    Duration pause = Duration::zero();
    std::unique_lock<std::mutex> lock(mutex_);
    while (!ends_.wait_for(lock, pause, [this] { return is_ending_; })) {
      lock.unlock();
      Look();
      if (!is_terminal_ && pause > Duration::zero()) printer_.PrintSummary();
      pause = is_terminal_ ? kLookEvery : kSummaryEvery;
      lock.lock();
    }
  }

  // Without an answer what was seen last stays.
  void Look() {
    printer_.OnLook();
    const auto running = FetchTrials(client_, study_, "state = RUNNING");
    const auto workers = FetchWorkers(client_);
    if (!running.ok() || !workers.ok()) return;
    std::int64_t slots = 0;
    for (const v1::Worker& worker : workers->workers()) {
      if (worker.state() == v1::WORKER_STATE_ACTIVE) slots += worker.slots();
    }
    printer_.OnRunning({running->trials().begin(), running->trials().end()},
                       slots);
  }

  Client& client_;
  const std::string study_;
  const bool is_terminal_;
  WatchPrinter& printer_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  std::thread thread_;  // last: it uses all others
};

absl::StatusOr<ExitCode> WatchForPeople(Session& session, Client& client,
                                        const v1::Study& study,
                                        bool until_done) {
  const SystemClock clock;
  WatchPrinter printer(session, client, clock, until_done);
  RETURN_IF_ERROR(printer.Begin(study));
  if (!IsEnded(study.state())) {
    const RunningLooks looks(client, study.name(), session.terminal.out_is_tty,
                             printer);
    RETURN_IF_ERROR(Watch(
        client, {.study = study.name(), .after_revision = study.revision()},
        {.on_event = [&](const auto& event) { return printer.OnEvent(event); },
         .on_break = [&](const auto& status) { printer.OnBreak(status); }}));
  }
  return printer.End();
}

// Prints JSON lines; the first line is the study as it is.
absl::StatusOr<ExitCode> WatchAsJson(Client& client, v1::Study study,
                                     bool until_done) {
  v1::StudyEvent first;
  first.set_revision(study.revision());
  *first.mutable_study() = study;
  ConnectionNews news(Notes());
  const auto print = [&](const v1::StudyEvent& event) {
    news.Back();
    if (event.has_study()) study = event.study();
    if (!event.has_alive()) std::cout << EventJson(event) << std::endl;
    return !(until_done && IsEnded(study.state()));
  };
  if (print(first) && !IsEnded(study.state())) {
    RETURN_IF_ERROR(Watch(
        client, {.study = study.name(), .after_revision = study.revision()},
        {.on_event = print,
         .on_break = [&](const auto& status) { news.Lost(status); }}));
  }
  if (!IsEnded(study.state())) return kExitOk;
  return study.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
}

absl::StatusOr<ExitCode> WatchCommand(Session& session, const WatchArgs& args) {
  if (args.all == !args.id.empty() || (args.all && args.until_done)) {
    return MakeError(ErrorId::kRequestInvalid,
                     "there is one study to watch, or all of them without end",
                     "give ID, with or without --until-done, or --all alone");
  }
  if (args.all) return WatchAllStudies(session, args.json);
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  return args.json ? WatchAsJson(*client, study, args.until_done)
                   : WatchForPeople(session, *client, study, args.until_done);
}

}  // namespace

void AddStudyWatch(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "watch", "Follow a study as its trials start and end",
              invocation, WatchCommand);
  verb->add_option("ID", args->id, "The study");
  verb->add_flag("--all", args->all, "All studies, and those that come later");
  verb->add_flag("--until-done", args->until_done,
                 "Exit when the study ends: 0 with a result, 8 without one");
  verb->add_flag("--json", args->json, "A StudyEvent on each line");
}

// `frostline study wait`: for scripts, silent until it is there.

namespace {

constexpr char kUntilFlag[] = "--for";
constexpr char kTrials[] = "trials=";
constexpr char kBest[] = "best";

absl::Status NoGoal(const std::string& text) {
  // A shell takes an unquoted > for a file's name.
  const std::string hint = text == kBest
                               ? "quote it: --for 'best>=0.9'"
                               : "write ended, running, trials=N or 'best>=X'";
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("'", text, "' is nothing to wait for"), hint,
                   kUntilFlag);
}

}  // namespace

absl::StatusOr<WaitGoal> ParseGoal(const std::string& text) {
  WaitGoal goal;
  if (text == "ended") return goal;
  if (text == "running") {
    goal.kind = WaitGoal::Kind::kRunning;
    return goal;
  }
  if (absl::StartsWith(text, kTrials)) {
    const auto count = ReadInt(text.substr(sizeof(kTrials) - 1));
    if (!count.has_value() || *count < 1) return NoGoal(text);
    goal.kind = WaitGoal::Kind::kTrials;
    goal.trials = *count;
    return goal;
  }
  goal.at_least = absl::StartsWith(text, "best>=");
  if (!goal.at_least && !absl::StartsWith(text, "best<=")) return NoGoal(text);
  const auto bound = ReadDouble(text.substr(sizeof("best>=") - 1));
  if (!bound.has_value()) return NoGoal(text);
  goal.kind = WaitGoal::Kind::kBest;
  goal.bound = *bound;
  return goal;
}

absl::Status CheckGoal(const WaitGoal& goal, const v1::StudySpec& spec) {
  if (goal.kind != WaitGoal::Kind::kBest || spec.objectives().empty()) {
    return absl::OkStatus();
  }
  const bool maximizes =
      spec.objectives(0).direction() == v1::DIRECTION_MAXIMIZE;
  if (maximizes == goal.at_least) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the study ", maximizes ? "maximizes " : "minimizes ",
                   spec.objectives(0).metric()),
      absl::StrCat("wait for 'best",
                   maximizes ? ">=" : "<=", FormatNumber(goal.bound), "'"),
      kUntilFlag);
}

bool IsMet(const WaitGoal& goal, const v1::Study& study,
           const std::vector<double>& best) {
  const v1::TrialCounts& counts = study.counts();
  switch (goal.kind) {
    case WaitGoal::Kind::kEnded:
      return IsEnded(study.state());
    case WaitGoal::Kind::kRunning:
      return counts.running() > 0;
    case WaitGoal::Kind::kTrials:
      return EndedTrials(counts) >= goal.trials;
    case WaitGoal::Kind::kBest:
      return std::ranges::any_of(best, [&goal](double value) {
        return goal.at_least ? value >= goal.bound : value <= goal.bound;
      });
  }
  return false;
}

namespace {

struct WaitArgs {
  std::string id;
  std::string goal = "ended";
  std::string timeout;  // empty: none
  Output output = {};
};

// Follows a study until the goal is met or can no longer be met.
class Waiter {
 public:
  Waiter(Client& client, WaitGoal goal) : client_(client), goal_(goal) {}

  absl::Status Take(const v1::Study& study) {
    const bool known = study.best_trials_size() == study_.best_trials_size() &&
                       (study.best_trials().empty() ||
                        study.best_trials(0) == study_.best_trials(0));
    study_ = study;
    if (goal_.kind != WaitGoal::Kind::kBest || known) return absl::OkStatus();
    ASSIGN_OR_RETURN(const v1::ListBestTrialsReply best,
                     FetchBestTrials(client_, study.name()));
    best_.clear();
    for (const v1::Trial& trial : best.trials()) {
      if (!trial.values().empty()) best_.push_back(trial.values(0));
    }
    return absl::OkStatus();
  }

  bool is_met() const { return IsMet(goal_, study_, best_); }
  bool is_over() const { return is_met() || IsEnded(study_.state()); }
  const v1::Study& study() const { return study_; }

  // An end without a result is none that a script can go on with.
  ExitCode Code() const {
    const bool ended_well =
        goal_.kind != WaitGoal::Kind::kEnded || study_.counts().succeeded() > 0;
    return is_met() && ended_well ? kExitOk : kExitNoResult;
  }

 private:
  Client& client_;
  const WaitGoal goal_;
  v1::Study study_;
  std::vector<double> best_;
};

absl::StatusOr<Duration> TimeoutOf(const WaitArgs& args) {
  if (args.timeout.empty()) return Duration::zero();
  const auto time = ReadDuration(args.timeout);
  if (!time.has_value() || time->seconds() < 0 || time->nanos() < 0 ||
      (time->seconds() == 0 && time->nanos() == 0)) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("'", args.timeout, "' is no time"),
                     "write it like 90s, 30m or 2h", "--timeout");
  }
  return std::chrono::duration_cast<Duration>(
      std::chrono::seconds(time->seconds()) +
      std::chrono::nanoseconds(time->nanos()));
}

absl::Status FollowStudy(Client& client, Duration timeout, Waiter& waiter) {
  absl::Status broken;
  ConnectionNews news(Notes());
  const auto on_event = [&](const v1::StudyEvent& event) {
    news.Back();
    if (event.has_study()) broken = waiter.Take(event.study());
    return broken.ok() && !waiter.is_over();
  };
  const auto on_break = [&](const absl::Status& status) { news.Lost(status); };
  RETURN_IF_ERROR(Watch(client,
                        {.study = waiter.study().name(),
                         .after_revision = waiter.study().revision(),
                         .timeout = timeout},
                        {.on_event = on_event, .on_break = on_break}));
  return broken;
}

// Returns the error when the user's own time limit is over, with what was
// reached by then.
absl::Status TimeIsOver(const v1::Study& study, Duration timeout) {
  const std::string id = LastPart(study.name());
  const std::chrono::duration<double> seconds = timeout;
  return MakeError(
      ErrorId::kDeadlinePassed,
      absl::StrCat("study ", id, " is ", NameOf(study.state()), ", ",
                   ProgressText(study), " after --timeout, ", seconds.count(),
                   " s"),
      absl::StrCat("wait longer, or ask what holds it up: frostline study why ",
                   id));
}

absl::StatusOr<ExitCode> Wait(Session& session, const WaitArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(const WaitGoal goal, ParseGoal(args.goal));
  ASSIGN_OR_RETURN(const Duration timeout, TimeoutOf(args));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  RETURN_IF_ERROR(CheckGoal(goal, study.spec()));
  Waiter waiter(*client, goal);
  RETURN_IF_ERROR(waiter.Take(study));
  if (!waiter.is_over()) {
    const absl::Status followed = FollowStudy(*client, timeout, waiter);
    const bool is_timed = timeout > Duration::zero();
    if (is_timed && HasErrorId(followed, ErrorId::kDeadlinePassed)) {
      return TimeIsOver(waiter.study(), timeout);
    }
    RETURN_IF_ERROR(followed);
  }
  RETURN_IF_ERROR(
      PrintOne(session.terminal, args.output, waiter.study(), [&waiter] {
        return absl::StrCat("study ", LastPart(waiter.study().name()), " is ",
                            NameOf(waiter.study().state()), ", ",
                            ProgressText(waiter.study()), "\n");
      }).status());
  if (waiter.Code() != kExitOk) {
    Notes() << "it has ended without what was waited for\n";
  }
  return waiter.Code();
}

}  // namespace

void AddStudyWait(CLI::App& noun, Invocation& invocation) {
  const auto [verb, args] =
      AddVerb(noun, "wait", "Wait until a study has ended, or has come so far",
              invocation, Wait);
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_option("--for", args->goal,
                   "ended [the default], running, trials=N that have ended, "
                   "'best>=X' or 'best<=X' of the first objective");
  verb->add_option("--timeout", args->timeout,
                   "At most so long, e.g. 30m; else as long as it takes");
  AddOneFormats(verb, args->output);
  verb->footer(
      "Exit codes: 0 it is there; 6 the time is over; 8 the study ended\n"
      "without it, or without a trial that succeeded.");
}

}  // namespace frostline::cli
