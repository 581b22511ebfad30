// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/trained_model.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
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
    ++plans_;
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

namespace {

constexpr std::size_t kTurnsShown = 8;
constexpr std::size_t kLayersShown = 64;

std::string Joined(const std::set<std::string>& modules) {
  std::string text;
  for (const std::string& module : modules) {
    text += (text.empty() ? "" : ", ") + module;
  }
  return text.empty() ? "none" : text;
}

// Returns "layer.0 (1.5), layer.2 (1.75)" of those that are in `chosen`, or of
// those that are not.
std::string WithScores(const std::vector<std::string>& layers,
                       const LayerScores& scores,
                       const std::set<std::string>& chosen, bool are_in) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string& layer : layers) {
    if (chosen.contains(layer) != are_in) continue;
    if (++shown > kLayersShown) return text + ", …";
    std::array<char, 32> figure = {};
    std::snprintf(figure.data(), figure.size(), "%.4g", scores.at(layer));
    text += (text.empty() ? "" : ", ") + layer + " (" + figure.data() + ")";
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Expected<Done> TrainedModel::CheckLayerChoice() const {
  const ModelConfig& config = setup_.pretrained->loaded.model.config();
  const bool has_head = !HeadParametersOf(config, setup_.heads()).empty();
  for (const auto& [module, rate] : rates_) {
    if (module.starts_with("layer.") &&
        module.find(".head.") != std::string::npos) {
      return Fault{FaultKind::kMisuse,
                   "training.extra.layers_by chooses layers, and the space "
                   "gives single attention heads (" +
                       module + ") rates of their own",
                   "give rates to whole layers, or to their attention and ffn"};
    }
    const bool always_trains =
        module == "embeddings" || (has_head && module.starts_with("head"));
    if (!draws() || !always_trains || rate > 0.0) continue;
    return Fault{
        FaultKind::kMisuse,
        "training.extra.layers_by: lisa trains " + module +
            " in each step, and its rate is 0",
        "give " + module + " a rate, or choose layers by another rule"};
  }
  return Done{};
}

LayerScores TrainedModel::SignalPlaces() const {
  const Model& model = setup_.pretrained->loaded.model;
  std::map<std::string, double>& known = setup_.pretrained->findings->signals;
  if (known.empty()) known = SignalsOf(model);
  return PlacesBySignal(model, rates_, known);
}

// Takes the gradient of the model as it begins, without touching the pretrained
// weights.
Expected<LayerScores> TrainedModel::ProbeLayers(
    std::span<const Batch> probed) const {
  const LoadedModel& loaded = setup_.pretrained->loaded;
  const ModelConfig config = Adjusted(loaded.model.config(), settings_);
  ModuleRates of_layers = rates_;
  for (auto& [module, rate] : of_layers) {
    if (!module.starts_with("layer.")) rate = 0.0;
  }
  FreezeSemantics semantics = settings_.freeze;
  semantics.mode = FreezeMode::kHard;
  ASSIGN_OR_FAULT(const FreezePlan plan,
                  MakeFreezePlan(config, setup_.heads(), of_layers, semantics));
  std::vector<bool> trains;
  for (const ParameterPlan& each : plan.parameters) {
    trains.push_back(each.trains());
  }
  Model model =
      TrainableCopy(loaded, config, trains, SeedOf(trial_, Draws::kHead));
  StepOptions options = Options();
  // Its loss is scaled by guess, and a gradient that overflows says nothing.
  if (precision_ == Precision::kFp16) options.precision = Precision::kFp32;
  ASSIGN_OR_FAULT(Stepper stepper, Stepper::Make(model, plan, options));
  ASSIGN_OR_FAULT(const std::vector<at::Tensor> gradients,
                  stepper.Probe(probed));
  return RelativeGradients(model, rates_, gradients);
}

// Freezes the layers that are never drawn, and logs the first draws.
void TrainedModel::KeepDrawnLayers() {
  const LayerChoice& choice = settings_.layers;
  const std::int64_t last = TurnAfter(course_.total_steps());
  std::set<std::string> ever;
  std::string shown;
  for (std::int64_t turn = 0; turn <= last; ++turn) {
    const std::set<std::string> drawn = DrawLayers(
        layers_, choice.at_once, SeedOf(trial_, Draws::kLayers), turn);
    ever.insert(drawn.begin(), drawn.end());
    if (std::cmp_less(turn, kTurnsShown)) {
      shown += (shown.empty() ? "" : "; ") + Joined(drawn);
    } else if (ever.size() == layers_.size()) {
      break;
    }
  }
  rates_ = RatesOfChosen(rates_, layers_, ever);
  std::set<std::string> never(layers_.begin(), layers_.end());
  for (const std::string& layer : ever) never.erase(layer);
  listener_.Log("layers by lisa, drawn " + std::to_string(last + 1) +
                " times, each " + std::to_string(choice.every_steps) +
                " steps: " + shown +
                (std::cmp_less(last, kTurnsShown) ? "" : "; …") +
                ". Never drawn: " + Joined(never));
}

Expected<Done> TrainedModel::ChooseLayers(std::span<const Batch> probed) {
  const LayerChoice& choice = settings_.layers;
  if (!choice.any()) return Done{};
  RETURN_IF_FAULT(CheckLayerChoice());
  layers_ = LayersWithRate(setup_.pretrained->loaded.model.config(), rates_);
  if (draws()) {
    KeepDrawnLayers();
    return Done{};
  }
  if (freezes_on_the_way()) {
    blocks_ = BlocksWithRate(setup_.pretrained->loaded.model.config(), rates_);
    return Done{};
  }
  return CatchTorch([&]() -> Expected<Done> {
    const bool by_signal = choice.rule == LayerRule::kSpectrum;
    LayerScores scores;
    if (by_signal) {
      scores = SignalPlaces();
    } else {
      ASSIGN_OR_FAULT(scores, ProbeLayers(probed));
    }
    const std::set<std::string> chosen =
        TopShare(layers_, scores, /*least_is_best=*/by_signal, choice.share);
    listener_.Log(
        std::string("layers by ") + (by_signal ? "spectrum" : "gradient") +
        ": " + WithScores(layers_, scores, chosen, true) + " train, " +
        WithScores(layers_, scores, chosen, false) + " frozen" +
        (by_signal ? " (mean place of a layer's matrices by signal to noise, 1 "
                     "is the best)"
                   : " (length of the gradient over that of the weights)"));
    rates_ = RatesOfChosen(rates_, layers_, chosen);
    return Done{};
  });
}

// After the last step nothing is drawn anew.
std::int64_t TrainedModel::TurnAfter(std::int64_t step) const {
  return std::min(step, course_.total_steps() - 1) /
         settings_.layers.every_steps;
}

ModuleRates TrainedModel::RatesAfter(std::int64_t step) const {
  const std::int64_t layers = setup_.pretrained->loaded.model.config().layers;
  ModuleRates rates = ThawedRates(rates_, course_.ThawedAfter(step), layers);
  if (!draws()) return rates;
  return RatesOfChosen(
      rates, layers_,
      DrawLayers(layers_, settings_.layers.at_once,
                 SeedOf(trial_, Draws::kLayers), TurnAfter(step)));
}

ModuleRates TrainedModel::WithoutFrozen(const ModuleRates& rates) const {
  // The number may be a note of a damaged checkpoint.
  const std::size_t frozen =
      std::min(course_.progress().auto_freeze.frozen, blocks_.size());
  return frozen == 0 ? rates
                     : RatesWithout(rates, std::span(blocks_).first(frozen));
}

ModuleRates TrainedModel::RatesNow() const {
  return WithoutFrozen(RatesAfter(planned_step_));
}

std::int64_t TrainedModel::PretrainedBlocks() const {
  return planned_frozen_ > 0 ? 0 : plan().frozen_blocks;
}

Expected<FreezePlan> TrainedModel::PlanAfter(std::int64_t step) {
  planned_step_ = step;
  planned_frozen_ = course_.progress().auto_freeze.frozen;
  ASSIGN_OR_FAULT(
      FreezePlan plan,
      MakeFreezePlan(model_->config(), setup_.heads(),
                     WithoutFrozen(RatesAfter(step)), settings_.freeze));
  const bool rest = draws() || freezes_on_the_way();
  for (std::size_t i = 0; rest && i < plan.parameters.size(); ++i) {
    ParameterPlan& each = plan.parameters[i];
    each.rests = trains_[i] && !each.trains();
  }
  return plan;
}

// Call it right after a step, so that a checkpoint has the next plan.
Expected<bool> TrainedModel::ReplanIfDue() {
  const std::int64_t step = stepper_->steps();
  if (course_.ThawedAfter(step) == course_.ThawedAfter(planned_step_) &&
      course_.progress().auto_freeze.frozen == planned_frozen_ &&
      (!draws() || TurnAfter(step) == TurnAfter(planned_step_))) {
    return false;
  }
  ++plans_;
  ASSIGN_OR_FAULT(FreezePlan plan, PlanAfter(step));
  RETURN_IF_FAULT(stepper_->Replan(plan));
  return true;
}

std::set<std::string> TrainedModel::Waiting() const {
  std::set<std::string> waiting;
  for (const auto& [module, rate] : rates_) {
    if (rate > 0.0) waiting.insert(module);
  }
  const auto trained_after = [&](std::int64_t step) {
    for (const auto& [module, rate] : RatesAfter(step)) {
      if (rate > 0.0) waiting.erase(module);
    }
  };
  const std::int64_t last = stepper_->steps() - 1;
  if (last < 0) return waiting;
  trained_after(last);  // what has thawed stays so
  const std::int64_t every = settings_.layers.every_steps;
  for (std::int64_t step = 0; draws() && step < last && !waiting.empty();
       step += every) {
    trained_after(step);
  }
  return waiting;
}

}  // namespace frostline::trainer
