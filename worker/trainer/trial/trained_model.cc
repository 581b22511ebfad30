// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/trained_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/freeze/apply_plan.h"
#include "worker/trainer/train/optimizer.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kLabelsShown = 20;

// Returns the model's configuration with what this trial changes.
ModelConfig Adjusted(ModelConfig config, const TrainingSettings& settings) {
  config.lora = settings.lora;
  config.bottleneck = settings.bottleneck;
  config.recomputes = settings.recompute;
  const std::optional<double>& dropout = settings.dropout;
  if (!dropout) return config;
  config.hidden_dropout = *dropout;
  config.embedding_dropout = dropout;
  config.pooler_dropout = *dropout;
  config.attention_dropout = *dropout;
  config.sequence_dropout = *dropout;
  config.token_dropout = *dropout;
  return config;
}

}  // namespace

// Returns independent seeds from the trial's one (splitmix64; Steele et al.,
// 2014, figure 17).
std::uint64_t SeedOf(const TrialMessage& trial, Draws draws) {
  const auto which = static_cast<std::uint64_t>(draws);
  std::uint64_t z = trial.seed + (which + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

ModuleRates RatesOfTasks(const TrialMessage& trial, const TrialSetup& setup,
                         TrialListener& listener) {
  ModuleRates rates = trial.rates;
  if (!setup.many()) return rates;
  for (auto& [module, rate] : rates) {
    const bool of_head = module.starts_with("head.");
    const bool trains = std::ranges::any_of(
        setup.tasks, [&, name = module](const TaskSetup& task) {
          const bool another = of_head && name != "head." + task.request.name;
          return !another && !task.request.freeze.contains(name);
        });
    if (trains || rate == 0.0) continue;
    rate = 0.0;
    listener.Log("frozen, as no task trains it: " + module);
  }
  return rates;
}

TrainedModel::TrainedModel(const TrialMessage& trial, const TrialSetup& setup,
                           const Course& course, Precision precision,
                           ModuleRates rates, TrialListener& listener)
    : trial_(trial),
      settings_(trial.training),
      setup_(setup),
      course_(course),
      precision_(precision),
      listener_(listener),
      rates_(std::move(rates)) {}

Expected<Done> TrainedModel::Make(std::int64_t step) {
  const LoadedModel& loaded = setup_.pretrained->loaded;
  const StepOptions options = Options();
  Expected<Done> fits = FreezeVirtually(options.schedule.SumOfFactors());
  if (!fits.ok()) return fits;
  const ModelConfig config = Adjusted(loaded.model.config(), settings_);
  fits = CheckAdapters(config);
  if (!fits.ok()) return fits;
  if (config.recomputes && !config.decoder) {
    return Fault{FaultKind::kUnsupported,
                 "training.extra.recompute: a model of the type " +
                     config.model_type + " is no decoder",
                 "leave it out, or give smaller batches and "
                 "training.accumulation"};
  }
  ASSIGN_OR_FAULT(FreezePlan whole, MakeFreezePlan(config, setup_.heads(),
                                                   rates_, settings_.freeze));
  for (const std::string& absent : whole.absent) {
    listener_.Log("this model has no " + absent + "; its rate is of no effect");
  }
  trained_weights_ = whole.trained_weights;
  whole_plan_ = std::move(whole);
  return CatchTorch([&]() -> Expected<Done> {
    trains_.clear();
    for (const ParameterPlan& each : whole_plan_.parameters) {
      trains_.push_back(each.trains());
    }
    model_.emplace(
        TrainableCopy(loaded, config, trains_, SeedOf(trial_, Draws::kHead)));
    thawed_ = course_.ThawedAfter(step);
    ASSIGN_OR_FAULT(FreezePlan plan, PlanAfter(step));
    ASSIGN_OR_FAULT(Stepper made, Stepper::Make(*model_, plan, options));
    stepper_.emplace(std::move(made));
    return Done{};
  });
}

std::set<std::string> TrainedModel::TrainedNames() const {
  std::set<std::string> names;
  const std::vector<ParameterSpec> specs =
      ParametersOf(model_->config(), setup_.heads());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (trains_[i]) names.insert(specs[i].name);
  }
  return names;
}

Model TrainedModel::AsItBegan() const {
  return TrainableCopy(setup_.pretrained->loaded, model_->config(),
                       std::vector<bool>(trains_.size(), false),
                       SeedOf(trial_, Draws::kHead));
}

StepOptions TrainedModel::Options() const {
  StepOptions options;
  options.optimizer = settings_.optimizer;
  options.no_decay = settings_.no_decay;
  options.schedule.kind = settings_.schedule;
  options.schedule.total_steps = course_.total_steps();
  options.schedule.warmup_steps =
      settings_.warmup_steps > 0
          ? settings_.warmup_steps
          : WarmupSteps(settings_.warmup_share, course_.total_steps());
  options.clip_norm = settings_.clip_norm;
  options.label_smoothing = settings_.label_smoothing;
  options.class_weights = WeighClasses();
  options.precision = precision_;
  if (setup_.many()) {  // else as of old, label by label
    for (const TaskSetup& task : setup_.tasks) {
      options.tasks.push_back({task.request.loss_weight, task.request.freeze});
    }
  }
  options.tasks_alike = settings_.tasks_alike;
  options.surgery = settings_.surgery;
  options.surgery_seed = SeedOf(trial_, Draws::kSurgery);
  options.smart = settings_.smart;
  return options;
}

// Returns the weight of each class in the loss. Balanced ones are those of
// scikit-learn: rows / (classes x rows of the class), over the rows to train
// on. A class without rows has no loss to weigh, so it gets 1.
std::vector<double> TrainedModel::WeighClasses() const {
  const ClassWeights& wanted = settings_.class_weights;
  if (!wanted.balanced) return wanted.given;
  const LabelSet& labels = setup_.tasks[0].data->labels;
  const std::vector<std::uint64_t> counts =
      setup_.tasks[0].train->CountLabels(labels.size());
  double all = 0.0;
  double classes = 0.0;
  for (const std::uint64_t count : counts) {
    all += static_cast<double>(count);
    if (count > 0) classes += 1.0;
  }
  std::vector<double> weights;
  std::string shown;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    weights.push_back(counts[i] == 0
                          ? 1.0
                          : all / (classes * static_cast<double>(counts[i])));
    if (i < kLabelsShown) {
      shown += (i == 0 ? "" : ", ") + Shown(labels.names()[i]) + " " +
               std::to_string(weights.back());
    }
  }
  listener_.Log("class weights: " + shown +
                (counts.size() > kLabelsShown ? ", …" : ""));
  return weights;
}

Expected<Done> TrainedModel::FreezeVirtually(double factors) {
  // Without this every trial would read all weights only to freeze nothing.
  if (settings_.virtual_tau == 0.0) return Done{};
  ASSIGN_OR_FAULT(const StepBound bound,
                  LongestStep(settings_.optimizer, settings_.clip_norm));
  const std::vector<std::string> frozen =
      VirtuallyFrozen(rates_, SizesOfModules(setup_.pretrained->loaded.model),
                      bound, factors, settings_.virtual_tau);
  for (const std::string& module : frozen) {
    rates_[module] = 0.0;
    virtually_frozen_ = true;
    listener_.Log("virtually frozen: " + module);
  }
  return Done{};
}

Expected<FreezePlan> TrainedModel::PlanAfter(std::int64_t step) const {
  const ModelConfig& config = model_->config();
  return MakeFreezePlan(
      config, setup_.heads(),
      ThawedRates(rates_, course_.ThawedAfter(step), config.layers),
      settings_.freeze);
}

// Call it right after a step, so that a checkpoint has the next plan.
Expected<bool> TrainedModel::ThawIfDue() {
  const std::int64_t thawed = course_.ThawedAfter(stepper_->steps());
  if (thawed == thawed_) return false;
  thawed_ = thawed;
  ASSIGN_OR_FAULT(FreezePlan plan, PlanAfter(stepper_->steps()));
  RETURN_IF_FAULT(stepper_->Replan(plan));
  return true;
}

ModuleRates TrainedModel::RatesNow() const {
  return ThawedRates(rates_, thawed_, model_->config().layers);
}

}  // namespace frostline::trainer
