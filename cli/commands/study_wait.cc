// SPDX-License-Identifier: Apache-2.0
//
// `frostline study wait`: for scripts, silent until it is there.
#include "cli/commands/study_wait.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/client/notes.h"
#include "cli/client/watcher.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/study.h"
#include "cli/commands/study_watch.h"
#include "cli/study_file/yaml_sugar.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
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
      }));
  if (waiter.Code() != kExitOk) {
    Notes() << "it has ended without what was waited for\n";
  }
  return waiter.Code();
}

}  // namespace

void AddStudyWait(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<WaitArgs>();
  CLI::App* const verb = AddVerb(
      noun, "wait", "Wait until a study has ended, or has come so far",
      invocation, [args](Session& session) { return Wait(session, *args); });
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
