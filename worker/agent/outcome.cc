// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/outcome.h"

#include <sys/wait.h>

#include <cmath>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "proto/wire_error.h"
#include "worker/agent/trainer_process.h"

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

}  // namespace frostline::agent
