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
  // Keeps the last evaluation if `by` has no metric. All outlive it.
  KeptEvaluation(TrialObjective by, TrainedModel& trained,
                 TrialProgress& progress);

  // Keeps the last evaluation if it is better. Returns whether it is kept.
  bool Note();
  // Copies the weights of the present step if its evaluation is kept, because
  // training will change them.
  Expected<Done> HoldWeights();
  // Makes the kept evaluation the last one, and puts its weights back into the
  // model.
  Expected<Done> GoBack(TrialListener& listener);

  // Returns the copies that a checkpoint of the present step needs beside the
  // model's own weights.
  WeightCopies weights() const;
  // Takes the copies that a checkpoint had.
  void Restore(WeightCopies weights) { weights_ = std::move(weights); }

 private:
  bool IsOfThisStep() const { return progress_.kept_step == progress_.steps; }

  const TrialObjective by_;
  TrainedModel& trained_;
  TrialProgress& progress_;
  WeightCopies weights_;  // empty while the model has them
};

// The checkpoints of one attempt. Only the newest stays. One thread uses it.
// Its destructor waits for the one that is being written.
class Checkpoints {
 public:
  // `every_seconds` lie between two checkpoints; 0 saves after every step. The
  // attempt began at `started`. `trial` and `setup` decide which checkpoints
  // belong to it. `trained` and `pace` outlive it.
  Checkpoints(const TrialMessage& trial, const TrialSetup& setup,
              double every_seconds, double started, TrainedModel& trained,
              Pace& pace);

  // Loads a checkpoint of this trial into the stepper, and returns its
  // progress. A fault says why it cannot be used.
  Expected<TrialProgress> Load(const std::string& path, WeightCopies& kept);

  bool IsDue() const;
  // Writes a copy while training goes on. If the checkpoint before is still
  // being written, it skips this one; if every step is saved, it waits instead.
  void SaveBeside(const TrialProgress& progress, const WeightCopies& kept);
  // Saves and waits for the disk, at the end of an attempt.
  void Save(const TrialProgress& progress, const WeightCopies& kept);
  // TakeWritten reports the checkpoint that has been written by now, if any;
  // Await waits for it first.
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
  std::string newest_;  // the file of this attempt that stays
  CheckpointWriter writer_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_KEEPER_H_
