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
#include "worker/trainer/trial/workbench.h"

namespace frostline::trainer {

// What a trial draws, each from a seed of its own.
enum class Draws : std::uint8_t { kHead, kBatches, kDropout, kSurgery };

std::uint64_t SeedOf(const TrialMessage& trial, Draws draws);

// Returns the trial's rates with 0 for what none of several tasks trains, and
// logs it: frozen, it is part of a prefix that can be shared.
ModuleRates RatesOfTasks(const TrialMessage& trial, const TrialSetup& setup,
                         TrialListener& listener);

// One thread uses it.
class TrainedModel {
 public:
  // All outlive it.
  TrainedModel(const TrialMessage& trial, const TrialSetup& setup,
               const Course& course, Precision precision, ModuleRates rates,
               TrialListener& listener);
  TrainedModel(const TrainedModel&) = delete;
  TrainedModel& operator=(const TrainedModel&) = delete;

  // Makes the pretrained model and a stepper that has taken no step, with the
  // layers that train behind step `step`. Before it there is neither; after it
  // they may be made anew, and stay where they are.
  Expected<Done> Make(std::int64_t step);
  // Lets train from the next step on what has thawed; says whether that is
  // more than before.
  Expected<bool> ThawIfDue();

  bool made() const { return stepper_.has_value(); }
  Model& model() { return *model_; }
  const Model& model() const { return *model_; }
  Stepper& stepper() { return *stepper_; }
  const Stepper& stepper() const { return *stepper_; }
  const FreezePlan& plan() const { return stepper_->plan(); }
  Precision precision() const { return precision_; }
  std::int64_t thawed() const { return thawed_; }  // blocks, from the top
  // As they are by now, 0 for what is frozen.
  ModuleRates RatesNow() const;
  // The weights that train at some time, by their place in weights().
  const std::vector<bool>& trains() const { return trains_; }
  std::int64_t trained_weights() const { return trained_weights_; }
  // At least one module is.
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
  std::vector<bool> trains_;
  std::int64_t trained_weights_ = 0;
  std::optional<Model> model_;
  std::optional<Stepper> stepper_;
  std::int64_t thawed_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_
