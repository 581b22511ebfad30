// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/client/notes.h"
#include "cli/commands/idle_fix.h"
#include "cli/commands/study_watch.h"
#include "cli/live/running_lines.h"
#include "cli/live/time_left.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"
#include "cli/view/trial_view.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// More say no more of how long the next one takes.
constexpr int kMostDurations = 500;

// Of the live workers' slots as many as the study may use.
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
  if (study.counts().running() == 0) SayWhyNothingRuns();
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

// Who watches a study without workers would wait for ever. Without an answer
// the watch goes on all the same.
void WatchPrinter::SayWhyNothingRuns() {
  v1::ExplainStudyRequest request;
  request.set_name(study_.name());
  const auto why = client_.Call(&v1::StudyService::Stub::ExplainStudy, request);
  if (!why.ok() || why->reasons().empty()) return;
  const v1::ExplainStudyReply::Reason& first = why->reasons(0);
  std::string text = absl::StrCat(
      "nothing runs yet: ",
      proto::CleanText(first.sentence(), proto::kMaxCauseBytes), "\n");
  if (!first.fix().empty()) {
    absl::StrAppend(&text, "  fix: ", IdleFix(first, client_.address()), "\n");
  }
  Notes() << text << std::flush;
}

// One line cannot say which of several objectives' best trials is wanted.
void WatchPrinter::ShowFront() {
  if (!HasFront()) return;
  const auto front = FetchBestTrials(client_, study_.name());
  if (!front.ok() || front->trials().empty()) return;
  std::cout << RenderFront({front->trials().begin(), front->trials().end()},
                           study_.spec(), width_)
            << std::flush;
}

// Every report changes a trial; only starts and ends are worth a line.
bool WatchPrinter::IsNews(const v1::Trial& trial) {
  const auto now = std::make_pair(trial.state(), trial.attempt());
  auto& last = last_seen_[trial.number()];
  return std::exchange(last, now) != now;
}

// A log has a line for each trial, a terminal shows that it began, too.
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

// Leaves half of the screen to the lines that stay. Rows and the count
// of what runs agree, so nothing is shown between a trial and its study.
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

}  // namespace frostline::cli
