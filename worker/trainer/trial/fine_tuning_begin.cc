// SPDX-License-Identifier: Apache-2.0
//
// What must be there before the first step.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/plain/text.h"
#include "worker/trainer/data/load.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/trial/fine_tuning.h"
#include "worker/trainer/trial/progress.h"

namespace frostline::trainer {
namespace {

// Independent seeds from one (splitmix64; Steele et al., 2014, figure 17).
std::uint64_t SeedFor(std::uint64_t seed, std::uint64_t which) {
  std::uint64_t z = seed + (which + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

constexpr std::size_t kLabelsShown = 20;
constexpr std::uint64_t kHeadDraws = 0;
constexpr std::uint64_t kBatchDraws = 1;
constexpr std::uint64_t kDropoutDraws = 2;
constexpr std::uint64_t kSurgeryDraws = 3;

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
  config.bottleneck = settings.bottleneck;
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
      batch_seed_(SeedFor(trial.seed, kBatchDraws)),
      noise_seed_(SeedFor(trial.seed, kDropoutDraws)),
      resume_step_(trial.resume_step),
      shown_(started_),
      saved_(started_) {}

Expected<Done> FineTuning::CheckMetrics() const {
  std::vector<std::string> names = MeasuredNames();
  const auto known = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  const std::string& stopping = settings_.early_stopping.metric;
  const bool stopping_known = stopping.empty() || known(stopping);
  for (const TaskSetup& task : setup_.tasks) {
    for (const EvaluationSet& other : task.others) {
      if (!other.part.data->labelled()) continue;
      for (const std::string& name :
           MetricNames(task.head, task.data->labels)) {
        names.push_back(other.name + name);
      }
    }
  }
  if (HasTests()) names.emplace_back("test.mean");
  names.insert(names.end(),
               {"train_seconds", "trained_parameters", "steps", "kept_step"});
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
  ASSIGN_OR_FAULT(Precision precision,
                  environment_.device.Choose(settings_.precision));
  precision_ = precision;
  keep_by_ = WhatToKeepBy();
  environment_.device.Multiply(precision_);
  rates_ = trial_.rates;
  FreezeWhatNoTaskTrains();
  const LoadedModel& loaded = setup_.pretrained->loaded;
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const TaskSetup& task = setup_.tasks[i];
    train_.emplace_back(task.train, loaded.model.config(), task.head,
                        environment_.device.is_cpu(), i);
    if (!train_.back().labelled().empty()) continue;
    return Fault{FaultKind::kMisuse,
                 (setup_.many() ? "the task " + task.request.name + ": " : "") +
                     "no row to train on has a label",
                 "see data.columns, data.task and training.max_length"};
  }
  LogWordsCut();
  LogLabelsMissing();
  MakeBatches();
  total_steps_ = TotalSteps();
  total_epochs_ = TotalEpochs();
  NoteEpochEnds();
  if (Expected<Done> made = MakeStepper(); !made.ok()) return made;
  if (!trial_.resume_path.empty()) {
    if (Expected<Done> resumed = Resume(); !resumed.ok()) return resumed;
  }
  batches_->Seek(progress_.position);
  return MakeBoundaries();
}

void FineTuning::LogWordsCut() const {
  const auto log = [&](const std::string& set, const TokenStore& tokens,
                       const char* what) {
    if (tokens.unread_total() == 0) return;
    listener_.Log(set + ": " + std::to_string(tokens.unread_total()) + " of " +
                  std::to_string(tokens.word_total()) +
                  " words are cut off by training.max_length, " + what);
  };
  constexpr char kWrong[] = "and count as wrong (metric words_cut)";
  for (const TaskSetup& task : setup_.tasks) {
    const std::string of = task.request.prefix();
    log(of + "training rows", *task.train, "and nothing is learnt from them");
    log(of + "validation rows", *task.validation.tokens, kWrong);
    for (const EvaluationSet& other : task.others) {
      log(other.name.substr(0, other.name.size() - 1), *other.tokens, kWrong);
    }
  }
}

void FineTuning::LogLabelsMissing() const {
  const auto log = [&](const std::string& set, const DataPart& part,
                       const LabelSet& labels) {
    std::string all;
    for (const std::string& label : LabelsWithoutRows(part, labels)) {
      all += (all.empty() ? "" : ", ") + Shown(label);
    }
    if (!part.data->labelled() || all.empty()) return;
    listener_.Log(set + ": no row has the label " + all +
                  " (metric labels_missing)");
  };
  for (const TaskSetup& task : setup_.tasks) {
    const LabelSet& labels = task.data->labels;
    if (labels.size() == 0) continue;
    log(task.request.prefix() + "validation rows", task.validation.part,
        labels);
    for (const EvaluationSet& other : task.others) {
      log(other.name.substr(0, other.name.size() - 1), other.part, labels);
    }
  }
}

// Balanced as scikit-learn has it: rows / (classes x rows of the class), of
// what is trained on. A class that is not there has no loss to weigh.
std::vector<double> FineTuning::WeighClasses() const {
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

std::int64_t FineTuning::StepsOf(std::uint64_t epoch) const {
  const auto batches = static_cast<std::int64_t>(batches_->BatchesOf(epoch));
  return (batches + settings_.accumulation - 1) / settings_.accumulation;
}

std::int64_t FineTuning::TotalSteps() const {
  const std::int64_t most = settings_.max_steps > 0
                                ? settings_.max_steps
                                : std::numeric_limits<std::int64_t>::max();
  // Only a budget of tokens makes epochs differ.
  if (settings_.batch_tokens == 0) {
    return std::min(most, settings_.epochs * StepsOf(0));
  }
  std::int64_t steps = 0;
  for (std::int64_t e = 0; e < settings_.epochs && steps < most; ++e) {
    steps += StepsOf(static_cast<std::uint64_t>(e));
  }
  return std::min(most, steps);
}

void FineTuning::NoteEpochEnds() {
  epoch_ends_.clear();
  if (settings_.unfreeze_every_epochs == 0) return;
  const std::int64_t layers = setup_.pretrained->loaded.model.config().layers;
  const std::int64_t asked = std::min(
      settings_.epochs, settings_.unfreeze_every_epochs * (layers + 1));
  const std::int64_t first = StepsOf(0);
  std::int64_t steps = 0;
  for (std::int64_t e = 0; e < asked && steps < total_steps_; ++e) {
    steps += settings_.batch_tokens == 0
                 ? first
                 : StepsOf(static_cast<std::uint64_t>(e));
    epoch_ends_.push_back(steps);
  }
}

std::int64_t FineTuning::ThawedAfter(std::int64_t steps) const {
  const std::int64_t layers = setup_.pretrained->loaded.model.config().layers;
  if (settings_.unfreeze_every_epochs == 0) {
    return ThawedBlocks(steps, settings_.unfreeze_every_steps, layers);
  }
  const std::int64_t epochs =
      std::ranges::upper_bound(epoch_ends_, steps) - epoch_ends_.begin();
  return ThawedBlocks(epochs, settings_.unfreeze_every_epochs, layers);
}

Expected<FreezePlan> FineTuning::PlanAfter(std::int64_t steps) const {
  const ModelConfig& config = model_->config();
  return MakeFreezePlan(config, setup_.heads(),
                        ThawedRates(rates_, ThawedAfter(steps), config.layers),
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
  options.class_weights = WeighClasses();
  options.precision = precision_;
  options.tasks = OptionsOfTasks();
  options.tasks_alike = settings_.tasks_alike;
  options.surgery = settings_.surgery;
  options.surgery_seed = SeedFor(trial_.seed, kSurgeryDraws);
  options.smart = settings_.smart;
  Expected<Done> fits = FreezeVirtually(options.schedule.SumOfFactors());
  if (!fits.ok()) return fits;
  const ModelConfig config = Adjusted(loaded.model.config(), settings_);
  fits = CheckAdapters(config);
  if (!fits.ok()) return fits;
  ASSIGN_OR_FAULT(FreezePlan whole, MakeFreezePlan(config, setup_.heads(),
                                                   rates_, settings_.freeze));
  for (const std::string& absent : whole.absent) {
    listener_.Log("this model has no " + absent + "; its rate is of no effect");
  }
  trained_weights_ = whole.trained_weights;
  return CatchTorch([&]() -> Expected<Done> {
    trains_.clear();
    for (const ParameterPlan& each : whole.parameters) {
      trains_.push_back(each.trains());
    }
    model_.emplace(TrainableCopy(loaded, config, trains_,
                                 SeedFor(trial_.seed, kHeadDraws)));
    thawed_ = ThawedAfter(resume_step_);
    ASSIGN_OR_FAULT(FreezePlan plan, PlanAfter(resume_step_));
    ASSIGN_OR_FAULT(Stepper made, Stepper::Make(*model_, plan, options));
    stepper_.emplace(std::move(made));
    return Done{};
  });
}

Expected<Done> FineTuning::FreezeVirtually(double factors) {
  // Else every trial would read all weights, to freeze nothing.
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

// What a trial of several tasks does besides: whose batches come when, which
// weights each trains, what is measured of all of them.

namespace {

constexpr char kMean[] = "mean";
constexpr char kConflicts[] = "gradient_conflicts";

}  // namespace

std::vector<TaskOptions> FineTuning::OptionsOfTasks() const {
  std::vector<TaskOptions> options;
  if (!setup_.many()) return options;  // as of old, label by label
  for (const TaskSetup& task : setup_.tasks) {
    options.push_back({task.request.loss_weight, task.request.freeze});
  }
  return options;
}

// Then it is frozen: its prefix can be shared.
void FineTuning::FreezeWhatNoTaskTrains() {
  if (!setup_.many()) return;
  for (auto& [module, rate] : rates_) {
    const bool of_head = module.starts_with("head.");
    const bool trains = std::ranges::any_of(
        setup_.tasks, [&, name = module](const TaskSetup& task) {
          const bool another = of_head && name != "head." + task.request.name;
          return !another && !task.request.freeze.contains(name);
        });
    if (trains || rate == 0.0) continue;
    rate = 0.0;
    listener_.Log("frozen, as no task trains it: " + module);
  }
}

void FineTuning::MakeBatches() {
  std::vector<std::vector<std::uint32_t>> lengths;
  MixOptions options;
  options.mixing = settings_.mixing;
  for (std::size_t i = 0; i < train_.size(); ++i) {
    lengths.emplace_back();
    for (const std::uint32_t row : train_[i].labelled()) {
      lengths.back().push_back(train_[i].lengths()[row]);
    }
    const double share = setup_.tasks[i].request.share;
    options.shares.push_back(
        share > 0.0 ? share : static_cast<double>(lengths.back().size()));
  }
  options.batches = {
      .batch_size = static_cast<std::size_t>(settings_.batch_size),
      .batch_tokens = static_cast<std::size_t>(settings_.batch_tokens),
      .bucket = settings_.bucket,
      .seed = batch_seed_};
  batches_.emplace(lengths, std::move(options));
}

std::vector<std::string> FineTuning::MeasuredNames() const {
  std::vector<std::string> names;
  for (const TaskSetup& task : setup_.tasks) {
    for (const std::string& name : MetricNames(task.head, task.data->labels)) {
      names.push_back(task.validation.name + name);
    }
  }
  if (setup_.many()) names.emplace_back(kMean);
  if (settings_.surgery != Surgery::kNone) names.emplace_back(kConflicts);
  names.emplace_back("train_loss");
  return names;
}

bool FineTuning::HasTests() const {
  return setup_.many() &&
         std::ranges::all_of(setup_.tasks, [](const TaskSetup& task) {
           const auto is_test = [&task](const EvaluationSet& other) {
             return task.SetOf(other) == "test" && other.part.data->labelled();
           };
           return std::ranges::any_of(task.others, is_test);
         });
}

void FineTuning::AddMean(const std::string& set, Metrics& metrics) const {
  if (!setup_.many()) return;
  double sum = 0.0;
  for (const TaskSetup& task : setup_.tasks) {
    sum += metrics.at(task.request.prefix() + set +
                      FirstMetric(task.head, task.data->labels));
  }
  metrics[set + kMean] = sum / static_cast<double>(setup_.tasks.size());
}

Expected<bool> FineTuning::EvaluateAll(Metrics& metrics,
                                       std::vector<Scores>& all) {
  for (std::size_t i = 0; i < setup_.tasks.size(); ++i) {
    const EvaluationSet& set = setup_.tasks[i].validation;
    ASSIGN_OR_FAULT(std::optional<Scores> scores, Evaluate(i, set));
    if (!scores) return false;
    for (const auto& [name, value] : scores->Compute()) {
      metrics[set.name + name] = value;
    }
    all.push_back(*std::move(scores));
  }
  AddMean("", metrics);
  if (settings_.surgery != Surgery::kNone) {
    metrics[kConflicts] = static_cast<double>(progress_.conflicts);
  }
  return true;
}

// Keeps each task's first metric and loss, and what the study asks for.
Metrics FineTuning::Fitting(const Metrics& metrics, std::size_t most) const {
  if (metrics.size() <= most) return metrics;
  Metrics fitting;
  const auto take = [&](const std::string& name) {
    const auto found = metrics.find(name);
    if (found != metrics.end()) fitting.insert(*found);
  };
  for (const TaskSetup& task : setup_.tasks) {
    const std::string first = FirstMetric(task.head, task.data->labels);
    for (const std::string& name : {first, std::string("loss")}) {
      take(task.request.prefix() + name);
      take(task.request.prefix() + "test." + name);
    }
  }
  for (const TrialObjective& objective : trial_.objectives) {
    take(objective.metric);
  }
  take(settings_.early_stopping.metric);
  for (const auto& [name, value] : metrics) {
    const std::string head = name.substr(0, name.find('.'));
    const bool of_task = std::ranges::any_of(
        setup_.tasks,
        [&](const TaskSetup& task) { return task.request.name == head; });
    if (!of_task) fitting.emplace(name, value);
  }
  return fitting;
}

}  // namespace frostline::trainer
