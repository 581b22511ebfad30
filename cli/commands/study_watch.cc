// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cli/client/watcher.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

struct WatchArgs {
  std::string id;
  bool until_done = false;
};

// Turns events into lines, and remembers what the last line needs.
class WatchPrinter {
 public:
  WatchPrinter(Session& session, Client& client, bool until_done)
      : client_(client),
        line_(session.terminal),
        is_terminal_(session.terminal.out_is_tty),
        until_done_(until_done) {}

  // The study as it is before the first event.
  absl::Status Begin(const v1::Study& study) {
    study_ = study;
    RETURN_IF_ERROR(UpdateBest());
    std::cout << LastPart(study.name()) << "  " << StatusText() << std::endl;
    if (!IsEnded(study.state()) && study.counts().running() == 0) {
      SayWhyNothingRuns();
    }
    return absl::OkStatus();
  }

  bool OnEvent(const v1::StudyEvent& event) {
    if (event.has_trial() && IsNews(event.trial()) &&
        IsWorthALine(event.trial())) {
      line_.Clear();
      std::cout << TrialLine(event.trial(), study_.spec()) << std::endl;
    } else if (event.has_study()) {
      TakeStudy(event.study());
    }
    line_.Show(StatusText());
    return !(until_done_ && IsEnded(study_.state()));
  }

  void OnBreak(const absl::Status& status) {
    line_.Clear();
    if (status.ok()) return;  // an orderly end, e.g. of a proxy's patience
    std::cerr << "connection lost (" << status.message() << "); trying again"
              << std::endl;
  }

  ExitCode End() {
    line_.Clear();
    std::cout << LastPart(study_.name()) << "  " << StatusText() << std::endl;
    if (!IsEnded(study_.state())) return kExitOk;
    ShowFront();
    return study_.counts().succeeded() > 0 ? kExitOk : kExitNoResult;
  }

  bool IsDone() const { return until_done_ && IsEnded(study_.state()); }

 private:
  // Who watches a study without workers would wait for ever. Without an answer
  // the watch goes on all the same.
  void SayWhyNothingRuns() {
    v1::ExplainStudyRequest request;
    request.set_name(study_.name());
    const auto why =
        client_.Call(&v1::StudyService::Stub::ExplainStudy, request);
    if (!why.ok() || why->reasons().empty()) return;
    const v1::ExplainStudyReply::Reason& first = why->reasons(0);
    std::cerr << "nothing runs yet: "
              << proto::CleanText(first.sentence(), proto::kMaxCauseBytes);
    if (!first.fix().empty()) {
      std::cerr << "; " << proto::CleanText(first.fix(), proto::kMaxCauseBytes);
    }
    std::cerr << std::endl;
  }

  // One line cannot say which of several objectives' best trials is wanted.
  void ShowFront() {
    if (!HasFront()) return;
    const auto front = FetchBestTrials(client_, study_.name());
    if (!front.ok() || front->trials().empty()) return;
    std::cout << RenderFront({front->trials().begin(), front->trials().end()},
                             study_.spec(), line_.width())
              << std::flush;
  }
  bool HasFront() const { return study_.spec().objectives_size() > 1; }

  // Every report changes a trial; only starts and ends are worth a line.
  bool IsNews(const v1::Trial& trial) {
    const auto now = std::make_pair(trial.state(), trial.attempt());
    auto& last = last_seen_[trial.number()];
    return std::exchange(last, now) != now;
  }

  // A log has a line for each trial, a terminal shows that it began, too.
  bool IsWorthALine(const v1::Trial& trial) const {
    return is_terminal_ || IsEnded(trial.state());
  }

  void TakeStudy(const v1::Study& study) {
    const bool changed = study.state() != study_.state();
    study_ = study;
    // Without the best trial the line is shorter, not wrong.
    if (!UpdateBest().ok()) best_.reset();
    if (!changed || IsDone()) return;
    line_.Clear();
    std::cout << "study  " << NameOf(study.state()) << "  "
              << study.state_reason() << std::endl;
  }

  absl::Status UpdateBest() {
    const bool known = best_.has_value() && study_.best_trials_size() > 0 &&
                       best_->name() == study_.best_trials(0);
    if (known) return absl::OkStatus();
    ASSIGN_OR_RETURN(best_, FetchBest(client_, study_));
    return absl::OkStatus();
  }

  std::string StatusText() const {
    std::string text =
        absl::StrCat(NameOf(study_.state()), "  ", ProgressText(study_));
    if (best_.has_value() && HasFront()) {
      absl::StrAppend(&text, ", Pareto set of ", study_.best_trials_size());
    } else if (best_.has_value()) {
      absl::StrAppend(&text, ", best ", ObjectiveText(*best_, study_.spec()),
                      " (trial ", best_->number(), ")");
    }
    return text;
  }

  Client& client_;
  StatusLine line_;
  const bool is_terminal_;
  const bool until_done_;
  v1::Study study_;
  std::optional<v1::Trial> best_;
  std::map<std::int64_t, std::pair<v1::TrialState, std::int64_t>> last_seen_;
};

absl::StatusOr<ExitCode> WatchCommand(Session& session, const WatchArgs& args) {
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(args.id));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::Study study, FetchStudy(*client, name));
  WatchPrinter printer(session, *client, args.until_done);
  RETURN_IF_ERROR(printer.Begin(study));
  if (!printer.IsDone()) {
    RETURN_IF_ERROR(Watch(
        *client, {.study = name, .after_revision = study.revision()},
        {.on_event = [&](const auto& event) { return printer.OnEvent(event); },
         .on_break = [&](const auto& status) { printer.OnBreak(status); }}));
  }
  return printer.End();
}

}  // namespace

void AddStudyWatch(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<WatchArgs>();
  CLI::App* const verb = AddVerb(
      noun, "watch", "Follow a study as its trials start and end", invocation,
      [args](Session& session) { return WatchCommand(session, *args); });
  verb->add_option("ID", args->id, "The study")->required();
  verb->add_flag("--until-done", args->until_done,
                 "Exit when the study ends: 0 with a result, 8 without one");
}

}  // namespace frostline::cli
