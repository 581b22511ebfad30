// SPDX-License-Identifier: Apache-2.0
//
// File: trained_model.h
//
// The model that a trial trains: a copy of the pretrained one, the stepper that
// moves it, and which of its layers train by now.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The purposes for which a trial draws, each with a seed of its own.
enum class Draws : std::uint8_t { kHead, kBatches, kDropout, kSurgery };

std::uint64_t SeedOf(const TrialMessage& trial, Draws draws);

// Returns the trial's rates, with 0 for what none of several tasks trains, and
// logs those. As frozen modules they can be part of a shared prefix.
ModuleRates RatesOfTasks(const TrialMessage& trial, const TrialSetup& setup,
                         TrialListener& listener);

// A trial's copy of the pretrained model, with the stepper that trains it. One
// thread uses it.
class TrainedModel {
 public:
  // All outlive it.
  TrainedModel(const TrialMessage& trial, const TrialSetup& setup,
               const Course& course, Precision precision, ModuleRates rates,
               TrialListener& listener);
  TrainedModel(const TrainedModel&) = delete;
  TrainedModel& operator=(const TrainedModel&) = delete;

  // Makes a copy of the pretrained model, and a stepper that has taken no step.
  // The layers that train after step `step` train. A second call makes both
  // anew, at the same addresses.
  Expected<Done> Make(std::int64_t step);
  // Lets the layers that have thawed train from the next step on. Returns
  // whether there are more than before.
  Expected<bool> ThawIfDue();

  bool made() const { return stepper_.has_value(); }
  Model& model() { return *model_; }
  const Model& model() const { return *model_; }
  Stepper& stepper() { return *stepper_; }
  const Stepper& stepper() const { return *stepper_; }
  const FreezePlan& plan() const { return stepper_->plan(); }
  // Returns the model as it was before the first step of the first attempt. It
  // shares the pretrained weights; what was drawn is drawn again. Throws what
  // LibTorch throws.
  Model AsItBegan() const;
  // Return the rates, with 0 for virtually frozen modules, and the plan in
  // which all that trains at some time does.
  const ModuleRates& rates() const { return rates_; }
  const FreezePlan& whole_plan() const { return whole_plan_; }
  Precision precision() const { return precision_; }
  std::int64_t thawed() const { return thawed_; }  // blocks, from the top
  // Returns the present rates, with 0 for what is frozen.
  ModuleRates RatesNow() const;
  // Returns for each of weights() whether it trains at some time.
  const std::vector<bool>& trains() const { return trains_; }
  // The weights that train at all in this trial.
  std::set<std::string> TrainedNames() const;
  std::int64_t trained_weights() const { return trained_weights_; }
  // Returns whether at least one module is virtually frozen.
  bool virtually_frozen() const { return virtually_frozen_; }

 private:
  StepOptions Options() const;
  std::vector<double> WeighClasses() const;
  Expected<Done> FreezeVirtually(double factors);
  Expected<FreezePlan> PlanAfter(std::int64_t step) const;

  const TrialMessage& trial_;
  const TrainingSettings& settings_;
  const TrialSetup& setup_;
  const Course& course_;
  const Precision precision_;
  TrialListener& listener_;
  ModuleRates rates_;  // with virtually frozen modules at 0
  bool virtually_frozen_ = false;
  FreezePlan whole_plan_;
  std::vector<bool> trains_;
  std::int64_t trained_weights_ = 0;
  std::optional<Model> model_;
  std::optional<Stepper> stepper_;
  std::int64_t thawed_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_
