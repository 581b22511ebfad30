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
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/trainer/device/device.h"
#include "worker/trainer/model/exported_config.h"
#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/train/checkpoint.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// What a trial borrows from its trainer. All of it outlives the trial.
struct TrialEnvironment {
  Device& device;
  std::function<double()> seconds;  // of a steady clock
  // It lies between checkpoints; 0 saves after every step.
  double checkpoint_seconds = 300.0;
  const PrefixStore* prefixes = nullptr;  // none is kept without it
  std::string kernels;                    // KernelFingerprint of the device
  // What trials saw of batches, for those after them. May be null.
  SizeBook* size_book = nullptr;
  // What frozen layers gave and the device keeps, for all trials. May be null.
  ResidentRows* resident = nullptr;
};

// One run of one trial. One thread uses it, and calls Run() once.
class FineTuning {
 public:
  FineTuning(const TrialMessage& trial, TrialSetup setup,
             const TrialEnvironment& environment, TrialListener& listener);

  TrialEnd Run();

 private:
  struct Flops {
    double spent = 0.0;
    double skipped = 0.0;
    double prefix = 0.0;  // of it forward through frozen layers
  };
  // Nothing says to go on.
  using Ended = std::optional<TrialEnd>;

  Expected<Done> CheckMetrics() const;
  // What evaluations measure, of all tasks.
  std::vector<std::string> MeasuredNames() const;
  bool HasTests() const;  // all tasks have a test split
  // Adds the mean over the tasks, of what stands behind their names and `set`.
  void AddMean(const std::string& set, Metrics& metrics) const;
  // The most important ones, where they are too many for a message.
  Metrics Fitting(const Metrics& metrics, std::size_t most) const;
  // Says by which metric an evaluation is handed over; without one the last is.
  TrialObjective WhatToKeepBy() const;
  Expected<Done> Begin();
  void LogWordsCut() const;
  void LogLabelsMissing() const;
  std::vector<double> WeighClasses() const;
  void MakeBatches();
  std::vector<TaskOptions> OptionsOfTasks() const;
  void FreezeWhatNoTaskTrains();
  std::int64_t StepsOf(std::uint64_t epoch) const;
  std::int64_t TotalSteps() const;
  // Sets when epochs end, as far as gradual unfreezing asks.
  void NoteEpochEnds();
  std::int64_t ThawedAfter(std::int64_t steps) const;
  Expected<FreezePlan> PlanAfter(std::int64_t steps) const;
  Expected<Done> MakeStepper();
  Expected<Done> Resume();
  Expected<Done> FreezeVirtually(double factors);
  // Makes the boundaries of the present plan; none where too little is frozen.
  Expected<Done> MakeBoundaries();
  bool PrefixDrops() const;
  bool TrainsFromBoundaries() const;
  GroupName GroupOf(std::int64_t blocks,
                    const std::optional<RowNoise>& noise) const;
  // What was seen of models with these shapes; null where nothing is kept.
  SizesByLength* KnownOf(std::int64_t blocks) const;
  PrefixWork WorkOfPrefix();
  void Open(std::optional<Boundaries>& boundaries, const PrefixStore* store,
            const std::optional<RowNoise>& noise);
  void Close(std::optional<Boundaries>& boundaries);
  const PrefixStore* StoreOfNoise() const;
  Expected<Done> MakeNoisy(std::uint64_t epoch);
  Expected<Done> GiveTrainingBoundary(const BatchMaker& maker, Batch& batch);
  Expected<Done> GiveBoundary(Boundaries& boundaries, const BatchMaker& maker,
                              Batch& batch);
  // A checkpoint must have this in common with the trial.
  std::string Identity() const;
  Notes NotesNow() const;

  TrialEnd Train();
  bool IsOver() const;
  Ended Step();
  Ended Note(const Expected<std::optional<StepResult>>& result);
  Ended NoteLastStep();
  // Returns the labelled ones of these rows of a training set, as the planner
  // counts them.
  static RowBatch Labelled(const BatchMaker& maker, const RowBatch& rows);
  Expected<std::vector<Batch>> NextParts();
  Flops FlopsOf(std::int64_t texts, std::int64_t tokens, std::size_t task);
  void CountFlopsOf(const Batch& batch);
  void CountFill(Boundaries& boundaries);
  double ForwardOf(const ComputedTexts& texts, std::int64_t blocks) const;
  Expected<Done> ThawIfDue();
  bool EvaluationIsDue() const;
  // Whether the step with this number is one that training reports.
  bool ReportsStep(std::int64_t step) const;
  void LogSkip(const StepResult& step);
  void CollectTraining(const StepNorms& norms);
  // Where no evaluation is due; then its report has these as well.
  void ReportTraining();
  Ended EvaluateNow();
  void StopEarlyIfDue();
  void NoteKept();
  // Where training goes on and would change them.
  Expected<Done> CopyKept();
  bool WantsExamples() const;
  // Tells the examples of the validation sets as the kept evaluation saw them.
  // False where a stop came in between, as below.
  Expected<bool> TellKeptExamples();
  // Keeps what was said of each example of a set, as the study wants it.
  Expected<Done> TellExamples(const TaskSetup& task, const std::string& set,
                              const DataPart& part, const Scores& scores);
  // Writes the set's predictions, where they are wanted.
  Expected<Done> Predicted(const TaskSetup& task, const std::string& set,
                           const DataPart& part, const Scores& scores);
  Expected<bool> PredictTraining(std::size_t task);
  // Returns nothing when a stop came in between. `logits`, when given, receives
  // those of each batch.
  Expected<std::optional<Scores>> Evaluate(
      std::size_t task, const EvaluationSet& set,
      std::vector<at::Tensor>* logits = nullptr);
  // Evaluates all tasks' validation sets; the metrics of each go behind its
  // name. False when a stop came in between.
  Expected<bool> EvaluateAll(Metrics& metrics, std::vector<Scores>& scores);
  void ShowLife();
  // Says so at once, where it is another one.
  void Enter(TrialPhase phase);
  TrialPace PaceNow() const;
  double TotalEpochs() const;
  std::optional<double> RemainingSeconds() const;
  double EvaluationSeconds() const;
  std::int64_t EvaluationsLeft() const;
  bool SaveIsDue() const;
  void SaveBeside();
  void Save();
  WeightCopies KeptElsewhere() const;
  void AwaitSaved();
  void TellSaved(const WrittenCheckpoint& written);
  std::string CheckpointName() const;
  std::string PathOf(const std::string& name) const;

  // Puts the kept evaluation, with its weights, in the place of the last.
  Expected<Done> GoBackToKept();
  TrialEnd Finish();
  TextReading TextsRead() const;  // as an exported model needs them
  bool AuditIsDue() const;
  // Trains the trial once more without virtual freezing, and puts the largest
  // differences into `metrics`. A second run that fails is only logged.
  Expected<Done> Audit(Metrics& metrics);
  TrialEnd Stop(StopReason reason);
  TrialEnd Fail(const Fault& fault) const;
  TrialEnd EndOf(const Fault& fault);  // Stop, where it came of one
  TrialEnd AdversaryLost(std::int64_t step) const;
  TrialEnd NotFinite(const std::string& what) const;
  TrialEnd End(TrialState state) const;
  TrialUsage Usage() const;
  std::string FingerprintOfRows() const;

  const TrialMessage& trial_;
  const TrainingSettings& settings_;
  const TrialSetup setup_;
  const TrialEnvironment& environment_;
  TrialListener& listener_;
  const double started_;
  const std::optional<double> energy_before_;

  Precision precision_ = Precision::kFp32;
  ModuleRates rates_;         // with virtually frozen modules at 0
  std::vector<bool> trains_;  // the weights that train at some time
  std::optional<Model> model_;
  std::optional<Stepper> stepper_;
  std::optional<Boundaries> boundaries_;
  std::optional<Boundaries> noisy_;  // of training, in one epoch
  std::uint64_t noisy_epoch_ = 0;
  PrefixCounts prefix_before_;     // of plans that are over
  std::vector<BatchMaker> train_;  // by task
  std::optional<TaskBatches> batches_;
  EarlyStopping early_stopping_;
  TrialProgress progress_;
  TrialObjective keep_by_;
  WeightCopies kept_weights_;  // none while the model has them
  StepResult last_step_;       // whose figures were read
  Metrics training_;           // of the last step that training reports
  // By texts, tokens and task, of the plan as it is.
  std::map<std::array<std::int64_t, 3>, Flops> flops_;
  std::array<std::uint64_t, 2> epochs_ = {};  // of the last two steps
  const std::uint64_t batch_seed_;
  const std::uint64_t noise_seed_;
  std::int64_t total_steps_ = 0;
  double total_epochs_ = 0.0;
  std::int64_t trained_weights_ = 0;
  std::int64_t resume_step_;
  std::int64_t thawed_ = 0;
  std::vector<std::int64_t> epoch_ends_;  // in steps
  bool ended_early_ = false;
  bool virtually_frozen_ = false;  // at least one module
  // By task on its validation set, of what is kept; none where it was before
  // this attempt, or nobody wants examples.
  std::vector<Scores> kept_scores_;
  std::vector<ExampleOutcomes> evaluations_;
  TrialPhase phase_ = TrialPhase::kLoading;
  // The whole evaluations of this attempt.
  double evaluation_seconds_ = 0.0;
  std::int64_t evaluations_done_ = 0;
  double shown_ = 0.0;  // when it last told something
  double saved_ = 0.0;
  std::string newest_;  // checkpoint of this attempt
  CheckpointWriter writer_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FINE_TUNING_H_
