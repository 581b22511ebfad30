// SPDX-License-Identifier: Apache-2.0
//
// File: trained_model.h
//
// The model that a trial trains: a copy of the pretrained one, the stepper that
// moves it, and which of its layers train by now.
#ifndef FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_
#define FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/plain/result.h"
#include "worker/trainer/freeze/layer_rules.h"
#include "worker/trainer/train/stepper.h"
#include "worker/trainer/trial/progress.h"
#include "worker/trainer/trial/trial_end.h"
#include "worker/trainer/trial/trial_message.h"
#include "worker/trainer/trial/trial_preparer.h"

namespace frostline::trainer {

// The purposes for which a trial draws, each with a seed of its own.
enum class Draws : std::uint8_t {
  kHead,
  kBatches,
  kDropout,
  kSurgery,
  kLayers,
};

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

  // Freezes the layers that the study's rule does not choose
  // (freeze/layer_rules.h), and logs the choice. Call it before Make. `probed`
  // are the batches whose gradient is measured, if the rule is that.
  Expected<Done> ChooseLayers(std::span<const Batch> probed);
  // Makes a copy of the pretrained model, and a stepper that has taken no step.
  // The layers that train after step `step` train. A second call makes both
  // anew, at the same addresses.
  Expected<Done> Make(std::int64_t step);
  // Lets the layers train from the next step on that have thawed, or that are
  // drawn for it, and none that autofreeze froze. Returns whether they are
  // others than before.
  Expected<bool> ReplanIfDue();

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
  // Return the rates, with 0 for what never trains: modules that are virtually
  // frozen, and layers that the study's rule leaves out. And the plan in which
  // all that trains at some time does.
  const ModuleRates& rates() const { return rates_; }
  const FreezePlan& whole_plan() const { return whole_plan_; }
  Precision precision() const { return precision_; }
  // Counts the plans that there were.
  std::int64_t plans() const { return plans_; }
  // Returns the present rates, with 0 for what is frozen.
  ModuleRates RatesNow() const;
  // Returns how many leading blocks are frozen and give what they give in other
  // trials: none once autofreeze has frozen one that it trained.
  std::int64_t PretrainedBlocks() const;
  // The blocks that autofreeze may freeze, the lowest first.
  const std::vector<std::string>& blocks() const { return blocks_; }
  // Whether autofreeze needs to know the gradients of each step.
  bool freezes_on_the_way() const {
    return settings_.layers.rule == LayerRule::kAutoFreeze;
  }
  // Returns the modules that train at some time, but in no step so far.
  std::set<std::string> Waiting() const;
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
  Expected<Done> CheckLayerChoice() const;
  // Return the figures by which a rule chooses; they throw what LibTorch
  // throws.
  LayerScores SignalPlaces() const;
  Expected<LayerScores> ProbeLayers(std::span<const Batch> probed) const;
  void KeepDrawnLayers();
  bool draws() const { return settings_.layers.rule == LayerRule::kLisa; }
  // Counts the draws of layers before the step that follows `step` steps.
  std::int64_t TurnAfter(std::int64_t step) const;
  // Returns the rates before autofreeze takes any away.
  ModuleRates RatesAfter(std::int64_t step) const;
  ModuleRates WithoutFrozen(const ModuleRates& rates) const;
  Expected<FreezePlan> PlanAfter(std::int64_t step);

  const TrialMessage& trial_;
  const TrainingSettings& settings_;
  const TrialSetup& setup_;
  const Course& course_;
  const Precision precision_;
  TrialListener& listener_;
  ModuleRates rates_;                // with 0 for what never trains
  std::vector<std::string> layers_;  // among which lisa draws
  std::vector<std::string> blocks_;
  bool virtually_frozen_ = false;
  FreezePlan whole_plan_;
  std::vector<bool> trains_;
  std::int64_t trained_weights_ = 0;
  std::optional<Model> model_;
  std::optional<Stepper> stepper_;
  // For which the present plan was made: the step, and what was frozen by then.
  std::int64_t planned_step_ = 0;
  std::size_t planned_frozen_ = 0;
  std::int64_t plans_ = 0;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_TRIAL_TRAINED_MODEL_H_
