// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/constant_pad_nd.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/parity/figures/figures.h"
#include "tests/parity/figures/torch_figures.h"
#include "tests/parity/figures/torch_recordings.h"
#include "worker/trainer/model/model.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::test {

// What a recorded training has more when it trains adapters or biases: where
// adapters began, gradients at the end, and the weights into which those of
// peft are merged.

// The model of a folder with a recording's adapters, all tensors its own;
// without adapters where it has none. `root` is above models/.
trainer::Model ModelToTrain(const std::filesystem::path& root,
                            const JsonValue& recorded);

// Adds the figures of the batch `first`, on the processor; none for a recording
// in which all weights train.
void AddLoraFigures(trainer::Stepper& stepper, trainer::Model& model,
                    const JsonValue& recorded, const trainer::Batch& first,
                    Figures& figures);

namespace {

trainer::LoraSpec SpecOf(const JsonValue& lora) {
  trainer::LoraSpec spec;
  spec.rank = static_cast<std::int64_t>(NumberAt(lora, "rank"));
  spec.alpha = NumberAt(lora, "alpha");
  spec.parts.clear();
  for (const std::string& name : TextsAt(lora, "modules")) {
    const std::optional<trainer::LoraPart> part = trainer::LoraPartOf(name);
    if (!part) throw std::runtime_error("no part is called " + name);
    spec.parts.insert(*part);
  }
  return spec;
}

}  // namespace

trainer::Model ModelToTrain(const std::filesystem::path& root,
                            const JsonValue& recorded) {
  const trainer::LoadedModel loaded =
      RecordedModel(root / TextAt(recorded, "model"));
  const JsonValue* lora = recorded.Find("lora");
  const JsonValue* adapters = recorded.Find("adapters");
  if (lora == nullptr && adapters == nullptr) return loaded.model;
  trainer::ModelConfig config = loaded.model.config();
  if (lora != nullptr) config.lora = SpecOf(*lora);
  if (adapters != nullptr) {
    config.bottleneck = {static_cast<std::int64_t>(NumberAt(*adapters, "size")),
                         TextAt(*adapters, "activation") == "relu"};
  }
  const std::vector<bool> all(loaded.model.weights().size(), true);
  trainer::Model model = trainer::TrainableCopy(loaded, config, all, 1);
  trainer::Tensors start = RecordedTensors(
      root / TextAt(lora != nullptr ? *lora : *adapters, "start"));
  for (trainer::Weight& each : model.weights()) {
    if (!each.spec.adapts() || each.spec.role == trainer::Role::kLoraB) {
      continue;
    }
    each.value.copy_(start.at(each.spec.name));
    start.erase(each.spec.name);
  }
  if (!start.empty()) {
    throw std::runtime_error("no adapter is called " + start.begin()->first);
  }
  return model;
}

void AddLoraFigures(trainer::Stepper& stepper, trainer::Model& model,
                    const JsonValue& recorded, const trainer::Batch& first,
                    Figures& figures) {
  if (!Has(recorded, "final_grads")) return;
  const trainer::Batch batch = trainer::MoveTo(first, model.device());
  const trainer::Pass pass = trainer::TrainingPass(stepper.plan());
  trainer::LossOf(model.head().spec(), model.Forward(batch, pass), batch.labels,
                  stepper.options().label_smoothing)
      .backward();
  const JsonValue& gradients = At(recorded, "final_grads");
  for (trainer::Weight& each : model.weights()) {
    const std::string& name = each.spec.name;
    const bool has = each.value.grad().defined();
    figures.push_back({FigureKind::kExact, name + " has a gradient",
                       Has(gradients, name) ? 1.0 : 0.0, has ? 1.0 : 0.0});
    if (!has || !Has(gradients, name)) continue;
    AddSummary(FigureKind::kGradient, name + " gradient", At(gradients, name),
               each.value.grad(), figures);
    each.value.mutable_grad().reset();
  }
  if (!Has(recorded, "merged_weights")) return;
  const trainer::Model merged = model.Merged();
  std::size_t found = 0;
  const JsonValue& weights = At(recorded, "merged_weights");
  for (const trainer::Weight& each : merged.weights()) {
    const std::string& name = each.spec.name;
    if (!Has(weights, name)) continue;
    ++found;
    AddSummary(FigureKind::kWeight, name + " merged", At(weights, name),
               each.value, figures);
  }
  figures.push_back({FigureKind::kExact, "merged weights",
                     static_cast<double>(Elements(weights).size()),
                     static_cast<double>(found)});
  const at::NoGradGuard no_graph;
  figures.push_back(
      {FigureKind::kForward, "logits of the merged model", 0.0,
       trainer::Furthest(merged.Forward(batch, {}), model.Forward(batch, {}))});
}

namespace {

// Recordings name rates by our modules ("rates", with "mode"), or, the older
// ones, by theirs ("lr", with "frozen").

namespace fs = std::filesystem;

trainer::ModuleRates RatesOf(const JsonValue& recorded) {
  trainer::ModuleRates rates;
  if (const JsonValue* ours = recorded.Find("rates"); ours != nullptr) {
    for (const JsonValue* each : Elements(*ours)) {
      rates[std::string(each->key)] = NumberOf(*each);
    }
    return rates;
  }
  const std::set<std::string> frozen = TextsAt(recorded, "frozen");
  for (const JsonValue* each : Elements(At(recorded, "lr"))) {
    const std::string theirs(each->key);
    std::string ours = theirs;
    if (theirs == "emb") ours = "embeddings";
    if (theirs.starts_with('l')) ours = "layer." + theirs.substr(1);
    rates[ours] = frozen.contains(theirs) ? 0.0 : NumberOf(*each);
  }
  return rates;
}

trainer::FreezeSemantics SemanticsOf(const JsonValue& recorded) {
  // A rate of 0 without freezing is what lr0 means.
  const bool lr0 = Has(recorded, "mode") ? TextAt(recorded, "mode") == "lr0"
                                         : TextsAt(recorded, "frozen").empty();
  return {.mode = lr0 ? trainer::FreezeMode::kLr0 : trainer::FreezeMode::kHard,
          .prefix_dropout = trainer::PrefixDropout::kHf,
          .tuned = Has(recorded, "trains") ? trainer::Tuned::kBiases
                                           : trainer::Tuned::kAll};
}

std::int64_t WholeAt(const JsonValue& object, const std::string& member) {
  return static_cast<std::int64_t>(NumberAt(object, member));
}

trainer::StepOptions OptionsOf(const JsonValue& recorded) {
  static const std::map<std::string, trainer::OptimizerKind> kinds = {
      {"adamw", trainer::OptimizerKind::kAdamW},
      {"adam", trainer::OptimizerKind::kAdam},
      {"sgd", trainer::OptimizerKind::kSgd}};
  static const std::map<std::string, trainer::ScheduleKind> schedules = {
      {"linear", trainer::ScheduleKind::kLinear},
      {"constant", trainer::ScheduleKind::kConstant},
      {"cosine", trainer::ScheduleKind::kCosine}};
  const JsonValue& optimizer =
      At(recorded, Has(recorded, "adamw") ? "adamw" : "optimizer");
  const std::vector<const JsonValue*> betas = Elements(At(optimizer, "betas"));
  trainer::StepOptions options;
  options.optimizer.kind = kinds.at(TextAt(optimizer, "kind", "adamw"));
  options.optimizer.beta1 = NumberOf(*betas.at(0));
  options.optimizer.beta2 = NumberOf(*betas.at(1));
  options.optimizer.epsilon = NumberAt(optimizer, "eps");
  options.optimizer.weight_decay = NumberAt(optimizer, "weight_decay");
  options.schedule.kind = schedules.at(TextAt(recorded, "schedule", "linear"));
  options.schedule.warmup_steps = WholeAt(recorded, "warmup_steps");
  options.schedule.total_steps = WholeAt(recorded, "total_steps");
  options.clip_norm = NumberAt(recorded, "clip");
  if (Has(recorded, "label_smoothing")) {
    options.label_smoothing = NumberAt(recorded, "label_smoothing");
  }
  return options;
}

// Where the adversary begins is recorded by the number of texts; it moves no
// padding.
trainer::SmartOptions SmartOf(const JsonValue& recorded, const fs::path& root) {
  const JsonValue* smart = recorded.Find("smart");
  if (smart == nullptr) return {};
  trainer::SmartOptions options;
  options.weight = NumberAt(*smart, "weight");
  options.bregman = NumberAt(*smart, "bregman");
  options.momentum = NumberAt(*smart, "momentum");
  options.steps = WholeAt(*smart, "steps");
  options.radius = NumberAt(*smart, "radius");
  options.step_size = NumberAt(*smart, "step_size");
  options.at_boundary = TextAt(*smart, "enter") == "boundary";
  options.begin = [noise = RecordedTensors(root / TextAt(*smart, "noise"))](
                      const at::Tensor& x, const trainer::Batch&) {
    const at::Tensor& rows = noise.at("rows" + std::to_string(x.size(0)));
    return at::constant_pad_nd(rows, {0, 0, 0, x.size(1) - rows.size(1)})
        .to(x.device());
  };
  return options;
}

std::string BatchName(double index) {
  return "b" + std::to_string(static_cast<int>(index));
}

// A step is a batch, or a list of those that are accumulated.
std::vector<trainer::Batch> PartsOf(const JsonValue& step,
                                    const trainer::Tensors& batches) {
  std::vector<trainer::Batch> parts;
  if (step.is(JsonKind::kNumber)) {
    parts.push_back(trainer::BatchOf(batches, BatchName(step.number)));
  }
  for (const JsonValue* each : Elements(step)) {
    parts.push_back(trainer::BatchOf(batches, BatchName(NumberOf(*each))));
  }
  return parts;
}

void AddSteps(trainer::Stepper& stepper, const JsonValue& recorded,
              const trainer::Tensors& batches, Figures& figures) {
  const std::vector<const JsonValue*> steps = Elements(At(recorded, "steps"));
  const std::vector<const JsonValue*> order = Elements(At(recorded, "order"));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::vector<trainer::Batch> parts = PartsOf(*order.at(i), batches);
    const trainer::StepResult step = OrThrow(stepper.Step(parts));
    const std::string at = "step " + std::to_string(i + 1) + " ";
    figures.push_back({FigureKind::kStep, at + "loss",
                       NumberAt(*steps[i], "loss"), step.loss});
    figures.push_back({FigureKind::kStep, at + "norm",
                       NumberAt(*steps[i], "grad_norm"), step.grad_norm});
    figures.push_back({FigureKind::kFactor, at + "factor",
                       NumberAt(*steps[i], "lr_factor"), step.factor});
  }
  int index = 0;
  for (const JsonValue* loss : Elements(At(recorded, "final_eval_loss"))) {
    const std::string name = BatchName(index++);
    const trainer::Prediction now =
        OrThrow(stepper.Predict(trainer::BatchOf(batches, name)));
    figures.push_back({FigureKind::kStep, "final loss of " + name,
                       NumberOf(*loss), now.loss});
  }
}

void AddWeights(const trainer::Stepper& stepper, const trainer::Model& start,
                const JsonValue& recorded, Figures& figures) {
  const std::set<std::string> undetermined = TextsAt(recorded, "undetermined");
  for (std::size_t i = 0; i < start.weights().size(); ++i) {
    const trainer::Weight& now = stepper.model().weights()[i];
    const std::string& name = now.spec.name;
    if (undetermined.contains(name)) continue;
    const at::Tensor value = now.value.detach().to(at::kCPU);
    if (!stepper.plan().parameters[i].trains()) {
      const bool same = value.equal(start.weights()[i].value);
      figures.push_back({FigureKind::kExact, name + " stays, bit for bit", 1.0,
                         same ? 1.0 : 0.0});
      // Nothing more is recorded of a weight in whose place something else
      // trains.
      if (!Has(At(recorded, "final_weights"), name)) continue;
    }
    const JsonValue& weights = At(At(recorded, "final_weights"), name);
    const at::Tensor moved = value - start.weights()[i].value;
    AddSummary(FigureKind::kWeight, name, weights, value, figures);
    figures.push_back({FigureKind::kWeight, name + " moved",
                       NumberAt(weights, "delta_abs_sum"),
                       moved.to(at::kDouble).abs().sum().item<double>()});
  }
}

}  // namespace

Figures TrajectoryFigures(const fs::path& trajectory,
                          const trainer::Device& device,
                          const trainer::Kernels& kernels) {
  const fs::path root = trajectory.parent_path().parent_path();
  const RecordedJson file(trajectory);
  const JsonValue& recorded = file.root();
  const trainer::Tensors batches =
      RecordedTensors(root / TextAt(recorded, "batches"));
  const trainer::Model start = ModelToTrain(root, recorded);
  trainer::Model model = ModelToTrain(root, recorded).To(device.torch());
  const trainer::FreezePlan plan = OrThrow(
      trainer::MakeFreezePlan(model.config(), model.head().spec(),
                              RatesOf(recorded), SemanticsOf(recorded)));
  trainer::StepOptions options = OptionsOf(recorded);
  options.smart = SmartOf(recorded, root);
  options.kernels = kernels;
  trainer::Stepper stepper =
      OrThrow(trainer::Stepper::Make(model, plan, options));
  Figures figures;
  AddSteps(stepper, recorded, batches, figures);
  AddWeights(stepper, start, recorded, figures);
  AddLoraFigures(stepper, model, recorded, trainer::BatchOf(batches, "b0"),
                 figures);
  return figures;
}

}  // namespace frostline::test
