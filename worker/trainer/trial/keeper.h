// SPDX-License-Identifier: Apache-2.0
//
// File: keeper.h
//
// What a trial keeps: the evaluation that it hands over, with the weights as
// they were then, and checkpoints from which another attempt goes on.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_KEEPER_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_KEEPER_H_

#include <string>

#include "base/plain/result.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/trial/pace.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/trial_message.h"

namespace frostline::trainer {

// The best evaluation so far by one metric, or the last one. One thread uses
// it.
class KeptEvaluation {
 public:
  // Without a metric in `by` the last is kept. All outlive it.
  KeptEvaluation(TrialObjective by, TrainedModel& trained,
                 TrialProgress& progress);

  // Keeps the last evaluation if it is better, and says whether it does.
  bool Note();
  // Copies the weights of the present step if its evaluation is kept: training
  // goes on and would change them.
  Expected<Done> HoldWeights();
  // Puts the kept evaluation, with its weights, in the place of the last.
  Expected<Done> GoBack(TrialListener& listener);

  // What a checkpoint of the present step must have beside its own weights.
  WeightCopies weights() const;
  // What a checkpoint had.
  void Restore(WeightCopies weights) { weights_ = std::move(weights); }

 private:
  bool IsOfThisStep() const { return progress_.kept_step == progress_.steps; }

  const TrialObjective by_;
  TrainedModel& trained_;
  TrialProgress& progress_;
  WeightCopies weights_;  // none while the model has them
};

// The checkpoints of one attempt, of which the newest stays. One thread uses
// it. Its destructor waits for what is written.
class Checkpoints {
 public:
  // They lie `every_seconds` apart, 0 saves after every step; the attempt began
  // at `started`. What a checkpoint must have in common with the trial is taken
  // from it and what it trains on. All outlive it.
  Checkpoints(const TrialMessage& trial, const TrialSetup& setup,
              double every_seconds, double started, TrainedModel& trained,
              Pace& pace);

  // Takes over what a checkpoint of this trial has, the stepper's part too, and
  // gives the rest. A fault says why it cannot be used.
  Expected<TrialProgress> Load(const std::string& path, WeightCopies& kept);

  bool IsDue() const;
  // The step goes on while a copy is written. Where the one before is not
  // written yet, the disk cannot do it more often; told to save after every
  // step, it waits.
  void SaveBeside(const TrialProgress& progress, const WeightCopies& kept);
  // At the end of an attempt, when there is time for the disk.
  void Save(const TrialProgress& progress, const WeightCopies& kept);
  // Tell of what has been written by now, or in the end.
  void TakeWritten();
  void Await();

 private:
  Notes NotesOf(const TrialProgress& progress) const;
  void Tell(const WrittenCheckpoint& written);
  std::string Name() const;
  std::string PathOf(const std::string& name) const;

  const std::string folder_;
  const std::string identity_;
  const double every_seconds_;
  TrainedModel& trained_;
  Pace& pace_;
  double saved_;
  std::string newest_;  // of this attempt
  CheckpointWriter writer_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_KEEPER_H_
