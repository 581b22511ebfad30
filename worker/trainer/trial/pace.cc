// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/pace.h"

#include <algorithm>
#include <utility>

namespace frostline::trainer {
namespace {

// The least time between two signs of life: reports without metrics while
// training, log lines during an evaluation.
constexpr double kLifeSeconds = 1.0;
constexpr double kEvaluationLifeSeconds = 60.0;
// A backward pass costs about two forward passes.
constexpr double kForwardShare = 1.0 / 3.0;

}  // namespace

Pace::Pace(const Course& course, const TrialSetup& setup,
           std::function<double()> seconds, double started,
           TrialListener& listener)
    : course_(course),
      seconds_(std::move(seconds)),
      listener_(listener),
      told_(started) {
  for (const TaskSetup& task : setup.tasks) {
    trained_ += static_cast<double>(task.train->size());
    validated_ += static_cast<double>(task.validation.tokens->size());
    for (const EvaluationSet& other : task.others) {
      others_ += static_cast<double>(other.tokens->size());
    }
  }
}

void Pace::BeginTraining(Precision precision) {
  GoOnTraining();
  listener_.NotePace(Now());
  listener_.Begun(course_.progress().steps, precision);
}

void Pace::Enter(TrialPhase phase) {
  if (phase_ == phase) return;
  phase_ = phase;
  listener_.EnterPhase(Now());
}

void Pace::Report(const Metrics& metrics) {
  told_ = seconds_();
  listener_.NotePace(Now());
  listener_.Report(course_.progress().steps, course_.total_steps(), metrics);
}

void Pace::ShowLife() {
  if (seconds_() - told_ < kLifeSeconds || course_.EvaluationIsDue()) return;
  Report({});
}

void Pace::Log(const std::string& line) {
  told_ = seconds_();
  listener_.Log(line);
}

void Pace::LogNowAndThen(const std::string& line) {
  if (seconds_() - told_ >= kEvaluationLifeSeconds) Log(line);
}

void Pace::NoteEvaluation(double seconds) {
  evaluation_seconds_ += seconds;
  ++evaluations_;
}

TrialPace Pace::Now() const {
  return {.phase = phase_,
          .epoch = course_.epochs_done(),
          .total_epochs = course_.total_epochs(),
          .remaining_seconds = RemainingSeconds()};
}

std::optional<double> Pace::RemainingSeconds() const {
  const TrialProgress& progress = course_.progress();
  if (progress.steps == 0 || phase_ == TrialPhase::kSaving) return std::nullopt;
  const double evaluations = static_cast<double>(course_.EvaluationsLeft()) +
                             others_ / std::max(validated_, 1.0);
  const auto left = static_cast<double>(
      course_.ended_early() ? 0 : course_.total_steps() - progress.steps);
  return std::max(
      0.0, left * progress.train_seconds / static_cast<double>(progress.steps) +
               evaluations * EvaluationSeconds());
}

// Returns the mean of the evaluations so far. Before the first one it estimates
// from the time that training took for as many rows.
double Pace::EvaluationSeconds() const {
  if (evaluations_ > 0) {
    return evaluation_seconds_ / static_cast<double>(evaluations_);
  }
  const double rows = trained_ * course_.epochs_done();
  return rows > 0.0 ? kForwardShare * course_.progress().train_seconds / rows *
                          validated_
                    : 0.0;
}

}  // namespace frostline::trainer
