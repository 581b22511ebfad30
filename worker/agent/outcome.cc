// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/outcome.h"

#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/error.h"
#include "proto/wire_error.h"
#include "worker/agent/process/trainer_process.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kMaxOutcomeCause = 4096;
constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;
// A shell says so of a child that SIGKILL ended.
constexpr int kShellSigkill = 128 + SIGKILL;

v1::Outcome::Kind EndKindOf(FinishMessage::State state) {
  switch (state) {
    case FinishMessage::State::kSucceeded:
      return v1::Outcome::SUCCEEDED;
    case FinishMessage::State::kInfeasible:
      return v1::Outcome::INFEASIBLE;
    case FinishMessage::State::kPruned:
      return v1::Outcome::PRUNED;
    case FinishMessage::State::kFailed:
    case FinishMessage::State::kStopped:
      return v1::Outcome::FAILED;
  }
  return v1::Outcome::FAILED;
}

void JudgeObjectives(const v1::TrialSpec& spec, v1::Outcome* outcome) {
  for (const v1::Objective& objective : spec.objectives()) {
    const auto metric = outcome->metrics().find(objective.metric());
    if (metric == outcome->metrics().end()) {
      outcome->set_kind(v1::Outcome::FAILED);
      outcome->set_failure(v1::FAILURE_CLASS_TRIAL);
      outcome->set_cause(absl::StrCat("the trainer's finish lacks the metric ",
                                      objective.metric(),
                                      ", an objective of the study"));
      return;
    }
    if (!std::isfinite(metric->second)) {
      outcome->set_kind(v1::Outcome::INFEASIBLE);
      outcome->set_cause(
          absl::StrCat("the objective ", objective.metric(), " is not finite"));
    }
  }
}

v1::FailureClass ClassOfExit(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    switch (WTERMSIG(wait_status)) {
      case SIGKILL:  // not ours, so nearly always the kernel's OOM killer
        return v1::FAILURE_CLASS_OUT_OF_MEMORY;
      case SIGTERM:
      case SIGINT:
      case SIGHUP:  // somebody wanted the node
        return v1::FAILURE_CLASS_INFRASTRUCTURE;
      default:
        return v1::FAILURE_CLASS_TRIAL;
    }
  }
  const int code = WEXITSTATUS(wait_status);
  if (code == kShellSigkill) return v1::FAILURE_CLASS_OUT_OF_MEMORY;
  if (code == kExitRequeue) return v1::FAILURE_CLASS_INFRASTRUCTURE;
  return v1::FAILURE_CLASS_TRIAL;
}

}  // namespace

v1::Outcome DetailsOf(const FinishMessage& finish) {
  v1::Outcome outcome;
  for (const auto& [name, value] : finish.metrics) {
    (*outcome.mutable_metrics())[name] = value;
  }
  outcome.set_cause(finish.cause);
  if (finish.usage.has_value()) *outcome.mutable_usage() = *finish.usage;
  if (finish.examples.has_value()) {
    *outcome.mutable_examples() = *finish.examples;
  }
  outcome.mutable_evaluations()->Assign(finish.evaluations.begin(),
                                        finish.evaluations.end());
  return outcome;
}

v1::Outcome OutcomeOf(const FinishMessage& finish, const v1::TrialSpec& spec) {
  v1::Outcome outcome = DetailsOf(finish);
  outcome.set_kind(EndKindOf(finish.state));
  if (finish.state == FinishMessage::State::kSucceeded) {
    JudgeObjectives(spec, &outcome);
  }
  if (finish.state == FinishMessage::State::kFailed) {
    outcome.set_failure(finish.failure);
  }
  if (finish.state == FinishMessage::State::kStopped) {
    outcome.set_failure(v1::FAILURE_CLASS_TRIAL);
    outcome.set_cause("the trainer says stopped, but nobody asked it to stop");
  }
  return outcome;
}

v1::Outcome OutcomeOfExit(int wait_status, bool spoke) {
  const std::string what = DescribeWaitStatus(wait_status);
  const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 0;
  if (!spoke && (code == kNotExecutable || code == kNotFound)) {
    return FailedOutcome(
        v1::FAILURE_CLASS_INFRASTRUCTURE,
        MakeError(ErrorId::kTrainerStart, "the shell " + what,
                  "check the command line given to --exec on this node"));
  }
  const v1::FailureClass failure = ClassOfExit(wait_status);
  const bool memory = failure == v1::FAILURE_CLASS_OUT_OF_MEMORY;
  return FailedOutcome(
      failure,
      MakeError(ErrorId::kTrainerExited,
                absl::StrCat("the trainer ", what, " before its finish",
                             memory ? "; out of memory, most likely" : ""),
                "see the end of its log"));
}

v1::Outcome FailedOutcome(v1::FailureClass failure,
                          const absl::Status& status) {
  v1::Outcome outcome;
  outcome.set_kind(v1::Outcome::FAILED);
  outcome.set_failure(failure);
  const auto detail = DetailOf(status);
  const std::string code =
      detail.has_value() ? ErrorCode(detail->id) + ": " : "";
  outcome.set_cause(
      proto::CleanText(code + std::string(status.message()), kMaxOutcomeCause));
  return outcome;
}

namespace {

constexpr int kStartFactor = 6;
constexpr int kStepFactor = 10;
constexpr std::size_t kMostIntervals = 101;
// Between two looks; what is longer was no silence of the trainer.
constexpr Duration kLongestLook = std::chrono::seconds(10);

Duration MedianOf(const std::deque<Duration>& durations) {
  std::vector<Duration> sorted(durations.begin(), durations.end());
  const auto middle =
      sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double SecondsOf(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

ProgressWatch::ProgressWatch(Duration floor, SteadyTime now)
    : floor_(floor), seen_(now) {}

void ProgressWatch::Look(SteadyTime now) {
  const Duration passed = std::min(now - seen_, kLongestLook);
  seen_ = now;
  silence_ += passed;
  since_step_ += passed;
}

void ProgressWatch::NoteStep(SteadyTime now) {
  Look(now);
  if (stepped_) {
    intervals_.push_back(since_step_);
    if (intervals_.size() > kMostIntervals) intervals_.pop_front();
  }
  stepped_ = true;
  silence_ = since_step_ = Duration::zero();
}

void ProgressWatch::NoteSign(SteadyTime now) {
  Look(now);
  silence_ = Duration::zero();
}

Duration ProgressWatch::patience() const {
  if (!stepped_) return floor_ * kStartFactor;
  if (intervals_.empty()) return floor_;
  return std::max(floor_, MedianOf(intervals_) * kStepFactor);
}

bool ProgressWatch::hangs() const {
  // The floor first: the median is worth its price only for the very quiet.
  return floor_ > Duration::zero() && silence_ >= floor_ &&
         silence_ >= patience();
}

std::string ProgressWatch::Describe() const {
  const std::string quiet =
      absl::StrFormat("no progress for %.4g s", SecondsOf(silence_));
  if (!stepped_) {
    return absl::StrCat(quiet, ", before the first step (suspected hang)");
  }
  if (intervals_.empty()) {
    return absl::StrCat(quiet, ", after the first step (suspected hang)");
  }
  return absl::StrCat(quiet,
                      absl::StrFormat("; steps took %.4g s before",
                                      SecondsOf(MedianOf(intervals_))),
                      " (suspected hang)");
}

}  // namespace frostline::agent
