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

#include "worker/trainer/data/batches.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/prefix/boundaries.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/batch_maker.h"
#include "worker/trainer/trial/early_stopping.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// These outlive the trial.
struct TrialEnvironment {
  Device& device;
  std::function<double()> seconds;  // of a steady clock
  // It lies between checkpoints; 0 saves after every step.
  double checkpoint_seconds = 300.0;
  const PrefixStore* prefixes = nullptr;  // none is kept without it
  std::string kernels;                    // KernelFingerprint of the device
};

// One thread uses it, and runs it once.
class FineTuning {
 public:
  FineTuning(const TrialMessage& trial, TrialSetup setup,
             const TrialEnvironment& environment, TrialListener& listener);

  TrialEnd Run();

 private:
  struct Flops {
    double spent = 0.0;
    double skipped = 0.0;
    double prefix = 0.0;  // forward through frozen layers
  };
  // Nothing says to go on.
  using Ended = std::optional<TrialEnd>;

  Expected<Done> CheckMetrics() const;
  Expected<Done> Begin();
  void MakePlanner();
  std::int64_t TotalSteps() const;
  Expected<FreezePlan> PlanAfter(std::int64_t steps) const;
  Expected<Done> MakeStepper();
  Expected<Done> Resume();
  Expected<Done> FreezeVirtually(double factors);
  // Of the plan as it is; none where too little is frozen.
  Expected<Done> MakeBoundaries();
  bool TrainsFromBoundaries() const;
  Expected<Done> GiveBoundary(const TokenStore& tokens, const BatchMaker& maker,
                              Batch& batch);
  // A checkpoint must have this in common with the trial.
  std::string Identity() const;
  Notes NotesNow() const;

  bool IsOver() const;
  Ended Step();
  Ended Note(const Expected<std::optional<StepResult>>& result);
  Ended NoteLastStep();
  Expected<std::vector<Batch>> NextParts();
  Flops FlopsOf(std::int64_t texts, std::int64_t tokens);
  void CountFlopsOf(const Batch& batch);
  void CountFill();
  Expected<Done> ThawIfDue();
  bool EvaluationIsDue() const;
  Ended EvaluateNow();
  void NoteOutcomes(const Scores& scores);
  // Returns nothing when a stop came in between. `logits`, when given, receives
  // those of each batch.
  Expected<std::optional<Scores>> Evaluate(
      const EvaluationSet& set, std::vector<at::Tensor>* logits = nullptr);
  void ShowLife();
  bool SaveIsDue() const;
  void Save();

  TrialEnd Finish();
  bool AuditIsDue() const;
  // Trains the trial once more without virtual freezing, and puts the largest
  // differences into `metrics`. A second run that fails is only logged.
  Expected<Done> Audit(Metrics& metrics);
  TrialEnd Stop(StopReason reason);
  TrialEnd Fail(const Fault& fault) const;
  TrialEnd EndOf(const Fault& fault);  // Stop, where it came of one
  TrialEnd NotFinite(const std::string& what) const;
  TrialEnd End(TrialState state) const;
  TrialUsage Usage() const;

  const TrialMessage& trial_;
  const TrainingSettings& settings_;
  const TrialSetup setup_;
  const TrialEnvironment& environment_;
  TrialListener& listener_;
  const double started_;
  const std::optional<double> energy_before_;

  Precision precision_ = Precision::kFp32;
  ModuleRates rates_;  // with virtually frozen modules at 0
  std::optional<Model> model_;
  std::optional<Stepper> stepper_;
  std::optional<Boundaries> boundaries_;
  PrefixCounts prefix_before_;  // of plans that are over
  std::optional<BatchMaker> train_;
  std::optional<BatchPlanner> planner_;
  std::optional<BatchCursor> cursor_;
  EarlyStopping early_stopping_;
  TrialProgress progress_;
  // By texts and tokens, of the plan as it is.
  std::map<std::pair<std::int64_t, std::int64_t>, Flops> flops_;
  std::array<std::uint64_t, 2> epochs_ = {};  // of the last two steps
  std::int64_t total_steps_ = 0;
  std::int64_t trained_weights_ = 0;
  std::int64_t resume_step_;
  std::int64_t thawed_ = 0;
  bool ended_early_ = false;
  bool virtually_frozen_ = false;  // at least one module
  bool outcomes_noted_ = false;    // in this attempt
  std::optional<ExampleOutcomes> examples_;
  double shown_ = 0.0;  // when it last told something
  double saved_ = 0.0;
  std::string newest_;  // checkpoint of this attempt
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_FINE_TUNING_H_
