// SPDX-License-Identifier: Apache-2.0
//
// File: fine_tuning.h
//
// Runs one trial from its first step to its last. The same trial, machine and
// number of threads give the same numbers, also from a checkpoint
// (train/checkpoint.h).
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_FINE_TUNING_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_FINE_TUNING_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/evaluation.h"
#include "worker/trainer/trial/flops_counter.h"
#include "worker/trainer/trial/freezing_check.h"
#include "worker/trainer/trial/frozen_prefix.h"
#include "worker/trainer/trial/keeper.h"
#include "worker/trainer/trial/pace.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trained_model.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The loop of one run of one trial: steps, and what is due between them. One
// thread uses it, and calls Run() once.
class FineTuning {
 public:
  FineTuning(const TrialMessage& trial, TrialSetup setup,
             const TrialEnvironment& environment, TrialListener& listener);

  TrialEnd Run();

 private:
  // The end of the trial, or nothing while it goes on.
  using Ended = std::optional<TrialEnd>;

  Expected<Done> Begin();
  Expected<Done> MakeBatches();
  Expected<Done> ChooseLayers();
  // Returns the first batches of the first epoch, as steps will take them.
  Expected<std::vector<Batch>> FirstBatches(std::int64_t count);
  void ReadWhatFroze();
  Expected<Done> Resume();

  TrialEnd Train();
  // The two clocks by which training is counted.
  struct TrainingTime {
    double seconds = 0.0;
    double processor_seconds = 0.0;
  };
  TrainingTime Now() const;
  void CountSince(const TrainingTime& begun);
  Ended Step();
  Expected<std::vector<Batch>> NextParts();
  Ended Note(const Expected<std::optional<StepResult>>& noted);
  Ended NoteLastStep();
  void FreezeOnTheWay(const StepNorms& norms);
  void CollectTraining(const StepNorms& norms);
  // Reports the step's figures, unless an evaluation is due: its report has
  // them.
  void ReportTraining();
  Ended EvaluateNow();
  void StopEarlyIfDue();
  // Copies the weights of the kept evaluation if training will change them.
  Expected<Done> HoldKept();

  TrialEnd Finish();
  // Evaluates the sets that are evaluated once, and tells the examples of all
  // sets. Returns false if a stop came in between.
  Expected<bool> EvaluateTheRest();
  // Audits what training did to the modules, for the report. Returns how the
  // trial ends if a frozen one moved.
  Ended AuditFreezing();
  bool AuditIsDue() const;
  // Trains the trial once more without virtual freezing, and puts the largest
  // differences into `metrics`. A second run that fails is only logged.
  Expected<Done> Audit(Metrics& metrics);
  TrialEnd Stop(StopReason reason);
  TrialEnd Fail(const Fault& fault) const;
  TrialEnd Fail(const std::string& cause, FailureClass failure) const;
  TrialEnd EndOf(const Fault& fault);  // Stop() if a stop caused it
  TrialEnd Infeasible(const std::string& what, const std::string& fix) const;
  TrialEnd End(TrialState state) const;
  TrialUsage Usage() const;

  const TrialMessage& trial_;
  const TrainingSettings& settings_;
  const TrialSetup setup_;
  const TrialEnvironment& environment_;
  TrialListener& listener_;
  const double started_;
  const std::optional<double> energy_before_;

  TrialProgress progress_;
  EarlyStopping early_stopping_;
  std::array<std::uint64_t, 2> epochs_ = {};  // of the last two steps
  StepResult last_step_;                      // the last one read
  Metrics training_;                // of the last step that training reports
  std::vector<ModuleAudit> audit_;  // once it was made
  // Begin makes these in this order; each may use those above it.
  std::vector<BatchMaker> makers_;  // by task
  std::optional<TaskBatches> batches_;
  std::optional<Course> course_;
  std::optional<TrainedModel> trained_;
  std::optional<FreezingCheck> freezing_;
  std::optional<Pace> pace_;
  std::optional<KeptEvaluation> kept_;
  std::optional<Checkpoints> checkpoints_;
  std::optional<FlopsCounter> flops_;
  std::optional<FrozenPrefix> prefix_;
  std::optional<Evaluator> evaluator_;
  std::optional<ExampleReport> examples_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FINE_TUNING_H_
