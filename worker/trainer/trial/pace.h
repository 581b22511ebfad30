// SPDX-License-Identifier: Apache-2.0
//
// File: pace.h
//
// How far a trial is, and how long it still needs. It reads only clocks and
// counts: nothing here waits for a device.
//
//   remaining = steps left * seconds of a step
//             + (evaluations left + other rows / validation rows)
//               * seconds of an evaluation
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_PACE_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_PACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "worker/trainer/device/precision.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The phases of one trial, and when it last told something. One thread uses it.
class Pace {
 public:
  // The trial began at `started`, by the steady clock `seconds`. All outlive
  // it.
  Pace(const Course& course, const TrialSetup& setup,
       std::function<double()> seconds, double started,
       TrialListener& listener);

  TrialListener& listener() { return listener_; }
  double seconds() const { return seconds_(); }

  void BeginTraining(Precision precision);
  // Notes that the trial trains again; the next report says so.
  void GoOnTraining() { phase_ = TrialPhase::kTraining; }
  // Enters a phase, and tells the listener at once if it is a new one.
  void Enter(TrialPhase phase);

  void Report(const Metrics& metrics);
  // Reports a sign of life, at most once a second. If an evaluation is due it
  // reports nothing, because the evaluation reports this step.
  void ShowLife();
  void Log(const std::string& line);
  // Logs the line unless something was told within the last minute.
  void LogNowAndThen(const std::string& line);

  // Notes how long a whole evaluation of all tasks took.
  void NoteEvaluation(double seconds);

 private:
  TrialPace Now() const;
  std::optional<double> RemainingSeconds() const;
  double EvaluationSeconds() const;

  const Course& course_;
  const std::function<double()> seconds_;
  TrialListener& listener_;
  // Rows of all tasks: of training, of validation, and of the sets that are
  // evaluated once, at the end.
  double trained_ = 0.0;
  double validated_ = 0.0;
  double others_ = 0.0;
  TrialPhase phase_ = TrialPhase::kLoading;
  double told_;
  // The whole evaluations of this attempt.
  double evaluation_seconds_ = 0.0;
  std::int64_t evaluations_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_PACE_H_
