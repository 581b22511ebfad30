// SPDX-License-Identifier: Apache-2.0
//
// What must be there before the first step.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/plain/shown.h"
#include "worker/trainer/train/longest_step.h"
#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/thaw.h"

namespace frostline::trainer {
namespace {

// Independent seeds from one (splitmix64; Steele et al., 2014, figure 17).
std::uint64_t SeedFor(std::uint64_t seed, std::uint64_t which) {
  std::uint64_t z = seed + (which + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kHeadDraws = 0;
constexpr std::uint64_t kBatchDraws = 1;
constexpr std::uint64_t kDropoutDraws = 2;

bool IsMaximized(const TrialMessage& trial, const std::string& metric) {
  for (const TrialObjective& objective : trial.objectives) {
    if (objective.metric == metric) return objective.maximize;
  }
  return metric != "train_loss" && metric != "loss" && metric != "mse" &&
         metric != "rmse";
}

// The model's configuration as this trial wants it.
ModelConfig Adjusted(ModelConfig config, const TrainingSettings& settings) {
  config.lora = settings.lora;
  const std::optional<double>& dropout = settings.dropout;
  if (!dropout) return config;
  config.hidden_dropout = *dropout;
  config.embedding_dropout = *dropout;
  config.pooler_dropout = *dropout;
  config.attention_dropout = *dropout;
  config.sequence_dropout = *dropout;
  config.token_dropout = *dropout;
  return config;
}

}  // namespace

FineTuning::FineTuning(const TrialMessage& trial, TrialSetup setup,
                       const TrialEnvironment& environment,
                       TrialListener& listener)
    : trial_(trial),
      settings_(trial.training),
      setup_(std::move(setup)),
      environment_(environment),
      listener_(listener),
      started_(environment.seconds()),
      energy_before_(environment.device.EnergyJoules()),
      early_stopping_(IsMaximized(trial, trial.training.early_stopping.metric),
                      trial.training.early_stopping.patience,
                      trial.training.early_stopping.min_delta),
      resume_step_(trial.resume_step),
      shown_(started_),
      saved_(started_) {}

Expected<Done> FineTuning::CheckMetrics() const {
  std::vector<std::string> names =
      MetricNames(setup_.head, setup_.data->labels);
  names.emplace_back("train_loss");
  const auto known = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  const std::string& stopping = settings_.early_stopping.metric;
  const bool stopping_known = stopping.empty() || known(stopping);
  const std::vector<std::string> validated = names;
  for (const EvaluationSet& other : setup_.others) {
    for (const std::string& name : validated) {
      if (name != "train_loss") names.push_back(other.name + name);
    }
  }
  names.insert(names.end(), {"train_seconds", "trained_parameters", "steps"});
  std::string missing = stopping_known ? "" : stopping;
  for (const TrialObjective& objective : trial_.objectives) {
    if (!known(objective.metric)) missing = objective.metric;
  }
  if (missing.empty()) return Done{};
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return Fault{FaultKind::kMisuse, "this task has no metric " + Shown(missing),
               "use one of " + all};
}

Expected<Done> FineTuning::Begin() {
  if (Expected<Done> fits = CheckMetrics(); !fits.ok()) return fits;
  Expected<Precision> precision =
      environment_.device.Choose(settings_.precision);
  if (!precision.ok()) return precision.fault();
  precision_ = precision.value();
  environment_.device.Multiply(precision_);
  rates_ = trial_.rates;
  const LoadedModel& loaded = setup_.pretrained->loaded;
  train_.emplace(setup_.train, loaded.model.config(), setup_.head,
                 environment_.device.is_cpu());
  if (train_->labelled().empty()) {
    return Fault{FaultKind::kMisuse, "no row to train on has a label",
                 "see data.columns, data.task and training.max_length"};
  }
  MakePlanner();
  total_steps_ = TotalSteps();
  if (Expected<Done> made = MakeStepper(); !made.ok()) return made;
  if (!trial_.resume_path.empty()) {
    if (Expected<Done> resumed = Resume(); !resumed.ok()) return resumed;
  }
  cursor_.emplace(*planner_, progress_.position);
  return MakeBoundaries();
}

void FineTuning::MakePlanner() {
  std::vector<std::uint32_t> lengths;
  for (const std::uint32_t row : train_->labelled()) {
    lengths.push_back(train_->lengths()[row]);
  }
  planner_.emplace(
      std::move(lengths),
      BatchOptions{
          .batch_size = static_cast<std::size_t>(settings_.batch_size),
          .batch_tokens = static_cast<std::size_t>(settings_.batch_tokens),
          .bucket = settings_.bucket,
          .seed = SeedFor(trial_.seed, kBatchDraws)});
}

std::int64_t FineTuning::TotalSteps() const {
  const std::int64_t most = settings_.max_steps > 0
                                ? settings_.max_steps
                                : std::numeric_limits<std::int64_t>::max();
  const auto steps_of = [&](std::int64_t epoch) {
    const auto batches = static_cast<std::int64_t>(
        planner_->Epoch(static_cast<std::uint64_t>(epoch)).size());
    return (batches + settings_.accumulation - 1) / settings_.accumulation;
  };
  // Only a budget of tokens makes epochs differ.
  if (settings_.batch_tokens == 0) {
    return std::min(most, settings_.epochs * steps_of(0));
  }
  std::int64_t steps = 0;
  for (std::int64_t e = 0; e < settings_.epochs && steps < most; ++e) {
    steps += steps_of(e);
  }
  return std::min(most, steps);
}

Expected<FreezePlan> FineTuning::PlanAfter(std::int64_t steps) const {
  const ModelConfig& config = model_->config();
  const std::int64_t thawed =
      ThawedBlocks(steps, settings_.unfreeze_every_steps, config.layers);
  return MakeFreezePlan(config, setup_.head,
                        ThawedRates(rates_, thawed, config.layers),
                        settings_.freeze);
}

Expected<Done> FineTuning::MakeStepper() {
  const LoadedModel& loaded = setup_.pretrained->loaded;
  StepOptions options;
  options.optimizer = settings_.optimizer;
  options.no_decay = settings_.no_decay;
  options.schedule.kind = settings_.schedule;
  options.schedule.total_steps = total_steps_;
  options.schedule.warmup_steps =
      settings_.warmup_steps > 0
          ? settings_.warmup_steps
          : WarmupSteps(settings_.warmup_share, total_steps_);
  options.clip_norm = settings_.clip_norm;
  options.label_smoothing = settings_.label_smoothing;
  options.seed = SeedFor(trial_.seed, kDropoutDraws);
  options.precision = precision_;
  Expected<Done> fits = FreezeVirtually(options.schedule.SumOfFactors());
  if (!fits.ok()) return fits;
  const ModelConfig config = Adjusted(loaded.model.config(), settings_);
  fits = CheckAdapters(config);
  if (!fits.ok()) return fits;
  Expected<FreezePlan> whole =
      MakeFreezePlan(config, setup_.head, rates_, settings_.freeze);
  if (!whole.ok()) return whole.fault();
  for (const std::string& absent : whole.value().absent) {
    listener_.Log("this model has no " + absent + "; its rate is of no effect");
  }
  trained_weights_ = whole.value().trained_weights;
  return CatchTorch([&]() -> Expected<Done> {
    std::vector<bool> trains;
    for (const ParameterPlan& each : whole.value().parameters) {
      trains.push_back(each.trains());
    }
    model_.emplace(TrainableCopy(loaded, config, trains,
                                 SeedFor(trial_.seed, kHeadDraws)));
    thawed_ = ThawedBlocks(resume_step_, settings_.unfreeze_every_steps,
                           config.layers);
    Expected<FreezePlan> plan = PlanAfter(resume_step_);
    if (!plan.ok()) return plan.fault();
    Expected<Stepper> made = Stepper::Make(*model_, plan.value(), options);
    if (!made.ok()) return made.fault();
    stepper_.emplace(std::move(made).value());
    return Done{};
  });
}

Expected<Done> FineTuning::FreezeVirtually(double factors) {
  // Else every trial would read all weights, to freeze nothing.
  if (settings_.virtual_tau == 0.0) return Done{};
  const Expected<StepBound> bound =
      LongestStep(settings_.optimizer, settings_.clip_norm);
  if (!bound.ok()) return bound.fault();
  const std::vector<std::string> frozen =
      VirtuallyFrozen(rates_, SizesOfModules(setup_.pretrained->loaded.model),
                      bound.value(), factors, settings_.virtual_tau);
  for (const std::string& module : frozen) {
    rates_[module] = 0.0;
    virtually_frozen_ = true;
    listener_.Log("virtually frozen: " + module);
  }
  return Done{};
}

}  // namespace frostline::trainer
