// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/stepper.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "worker/trainer/model/loss.h"

namespace frostline {
namespace {

Fault Misuse(const std::string& cause, const std::string& fix) {
  return {FaultKind::kMisuse, cause, fix};
}

bool Share(double value) { return value >= 0.0 && value < 1.0; }

Outcome<Done> CheckOptions(const StepOptions& options) {
  const OptimizerOptions& optimizer = options.optimizer;
  if (!Share(optimizer.beta1) || !Share(optimizer.beta2) ||
      !(optimizer.epsilon > 0.0) || !(optimizer.weight_decay >= 0.0)) {
    return Misuse(
        "an optimizer with impossible settings",
        "give betas in [0, 1), an epsilon above 0, no negative decay");
  }
  if (!Share(options.label_smoothing) || !(options.clip_norm >= 0.0)) {
    return Misuse("a label smoothing or a clip norm that is impossible",
                  "give a smoothing in [0, 1) and a norm of at least 0");
  }
  if (options.schedule.warmup_steps < 0 || options.schedule.total_steps < 1) {
    return Misuse("a schedule without steps", "train for at least one step");
  }
  return Done{};
}

// What the optimizer moves: a rate of 0 throughout needs no moments. Those of
// `before` go on where they were.
std::vector<TrainedTensor> Trained(const Model& model, const FreezePlan& plan,
                                   const std::vector<at::Tensor>& rates,
                                   const std::vector<TrainedTensor>& before) {
  std::map<std::string, TrainedTensor> known;
  for (const TrainedTensor& each : before) known.emplace(each.name, each);
  std::vector<TrainedTensor> trained;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].trains()) continue;
    const Parameter& parameter = model.parameters()[i];
    TrainedTensor each = known[parameter.spec.name];
    each.name = parameter.spec.name;
    each.value = parameter.value;
    each.rate = plan.parameters[i].rate;
    each.slice_rates = rates[i];
    each.decays = parameter.spec.decays();
    trained.push_back(std::move(each));
  }
  return trained;
}

}  // namespace

Outcome<Stepper> Stepper::Make(Model& model, const FreezePlan& plan,
                               const StepOptions& options) {
  Outcome<Done> sensible = CheckOptions(options);
  if (!sensible.ok()) return sensible.fault();
  return CatchTorch([&]() -> Outcome<Stepper> {
    Stepper stepper(model, options);
    Outcome<Done> planned = stepper.Replan(plan);
    if (!planned.ok()) return planned.fault();
    return stepper;
  });
}

Stepper::Stepper(Model& model, const StepOptions& options)
    : model_(&model),
      options_(options),
      optimizer_(options.optimizer, {}),
      chance_(at::make_generator<at::CPUGeneratorImpl>(options.seed)) {}

Outcome<Done> Stepper::Replan(const FreezePlan& plan) {
  if (plan.parameters.size() != model_->parameters().size()) {
    return Misuse("a freeze plan of another model",
                  "make the plan from this model's configuration");
  }
  return CatchTorch([&]() -> Outcome<Done> {
    std::vector<at::Tensor> rates;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
      rates.push_back(
          SliceRates(model_->parameters()[i].spec, plan.parameters[i]));
    }
    ApplyPlan(plan, *model_);
    optimizer_ = Optimizer(options_.optimizer,
                           Trained(*model_, plan, rates, optimizer_.tensors()));
    slice_rates_ = std::move(rates);
    plan_ = plan;
    return Done{};
  });
}

Outcome<StepResult> Stepper::Step(std::span<const Batch> parts) {
  return CatchTorch([&]() -> Outcome<StepResult> {
    std::int64_t labels = 0;
    for (const Batch& part : parts) {
      Outcome<Done> right = model_->Check(part);
      if (!right.ok()) return right.fault();
      if (part.labels.defined()) labels += CountLabels(part.labels);
    }
    if (labels == 0) {
      return Misuse("a step without a single label",
                    "leave out texts whose tokens are all unlabelled");
    }
    return StepOrThrow(parts, labels);
  });
}

StepResult Stepper::StepOrThrow(std::span<const Batch> parts,
                                std::int64_t labels) {
  StepResult result;
  const Pass pass = TrainingPass(plan_, &chance_);
  for (const Batch& part : parts) {
    const std::int64_t here = CountLabels(part.labels);
    if (here == 0) continue;  // a mean over nothing would be NaN
    const double share =
        static_cast<double>(here) / static_cast<double>(labels);
    const at::Tensor logits = model_->Forward(part, pass);
    const at::Tensor loss = LossOf(model_->head(), logits, part.labels,
                                   options_.label_smoothing) *
                            share;  // []
    result.loss += loss.item<double>();
    if (loss.requires_grad()) loss.backward();
  }
  MaskFrozenHeads(plan_, slice_rates_, *model_);
  const std::vector<at::Tensor> gradients = Gradients();
  result.grad_norm = ClipGradients(gradients, options_.clip_norm);
  result.factor = options_.schedule.FactorAt(steps_);
  result.finite = std::isfinite(result.loss) && std::isfinite(result.grad_norm);
  if (result.finite) optimizer_.Step(result.factor);
  for (Parameter& each : model_->parameters()) {
    each.value.mutable_grad().reset();
  }
  ++steps_;
  return result;
}

std::vector<at::Tensor> Stepper::Gradients() const {
  std::vector<at::Tensor> gradients;
  for (const Parameter& each : model_->parameters()) {
    if (each.value.grad().defined()) gradients.push_back(each.value.grad());
  }
  return gradients;
}

Outcome<Prediction> Stepper::Predict(const Batch& batch) const {
  return CatchTorch([&]() -> Outcome<Prediction> {
    Outcome<Done> right = model_->Check(batch);
    if (!right.ok()) return right.fault();
    const at::NoGradGuard no_graph;
    Pass pass;
    pass.frozen_blocks = plan_.frozen_blocks;  // where a boundary belongs
    Prediction prediction;
    prediction.logits = model_->Forward(batch, pass);
    if (!batch.labels.defined()) return prediction;
    prediction.labels = CountLabels(batch.labels);
    if (prediction.labels == 0) return prediction;
    prediction.loss =
        LossOf(model_->head(), prediction.logits, batch.labels, 0.0)
            .item<double>();
    return prediction;
  });
}

void Stepper::Resume(std::int64_t steps, const at::Tensor& chance) {
  steps_ = steps;
  chance_.set_state(chance);
}

}  // namespace frostline
