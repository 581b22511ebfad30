// SPDX-License-Identifier: Apache-2.0
//
// How far a trial is, and how long it needs still. It reads clocks and counts
// alone: nothing here waits for a device.
#include <algorithm>
#include <cmath>

#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::trainer {
namespace {

// A backward pass costs about two forward passes.
constexpr double kForwardShare = 1.0 / 3.0;
// Keeps an epoch that has just ended from counting as one under way.
constexpr double kRounding = 1e-9;

}  // namespace

void FineTuning::Enter(TrialPhase phase) {
  if (phase_ == phase) return;
  phase_ = phase;
  listener_.EnterPhase(PaceNow());
}

double FineTuning::TotalEpochs() const {
  const auto asked = static_cast<double>(settings_.epochs);
  if (settings_.max_steps == 0) return asked;
  return std::min(asked, static_cast<double>(total_steps_) /
                             static_cast<double>(StepsOf(0)));
}

TrialPace FineTuning::PaceNow() const {
  TrialPace pace;
  pace.phase = phase_;
  pace.total_epochs = total_epochs_;
  if (!stepper_ || total_steps_ == 0) return pace;
  pace.epoch = total_epochs_ * static_cast<double>(stepper_->steps()) /
               static_cast<double>(total_steps_);
  pace.remaining_seconds = RemainingSeconds();
  return pace;
}

std::int64_t FineTuning::EvaluationsLeft() const {
  const auto steps = static_cast<double>(stepper_->steps());
  const auto total = static_cast<double>(total_steps_);
  const double every = settings_.evaluate_every_steps > 0
                           ? static_cast<double>(settings_.evaluate_every_steps)
                           : total / std::max(total_epochs_, kRounding);
  const double all = std::ceil(total / every - kRounding);
  const double begun = IsOver() ? all : std::floor(steps / every + kRounding);
  return static_cast<std::int64_t>(std::max(0.0, all - begun)) +
         (EvaluationIsDue() ? 1 : 0);
}

// As those that were; before the first, as training did with as many rows.
double FineTuning::EvaluationSeconds() const {
  if (evaluations_done_ > 0) {
    return evaluation_seconds_ / static_cast<double>(evaluations_done_);
  }
  double trained = 0.0;
  double evaluated = 0.0;
  for (const TaskSetup& task : setup_.tasks) {
    trained += static_cast<double>(task.train->size());
    evaluated += static_cast<double>(task.validation.tokens->size());
  }
  const double epochs_done = total_epochs_ *
                             static_cast<double>(stepper_->steps()) /
                             static_cast<double>(total_steps_);
  const double rows = trained * epochs_done;
  return rows > 0.0 ? kForwardShare * progress_.train_seconds / rows * evaluated
                    : 0.0;
}

std::optional<double> FineTuning::RemainingSeconds() const {
  const auto steps = stepper_->steps();
  if (steps == 0 || phase_ == TrialPhase::kSaving) return std::nullopt;
  double validated = 0.0;
  double others = 0.0;  // rows that are evaluated once, at the end
  for (const TaskSetup& task : setup_.tasks) {
    validated += static_cast<double>(task.validation.tokens->size());
    for (const EvaluationSet& other : task.others) {
      others += static_cast<double>(other.tokens->size());
    }
  }
  const double evaluations = static_cast<double>(EvaluationsLeft()) +
                             others / std::max(validated, 1.0);
  const auto left =
      static_cast<double>(ended_early_ ? 0 : total_steps_ - steps);
  return std::max(0.0,
                  left * progress_.train_seconds / static_cast<double>(steps) +
                      evaluations * EvaluationSeconds());
}

}  // namespace frostline::trainer
