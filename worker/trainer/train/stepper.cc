// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/stepper.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "worker/trainer/device/autocast.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/model/loss.h"

namespace frostline::trainer {
namespace {

Fault Misuse(const std::string& cause, const std::string& fix) {
  return {FaultKind::kMisuse, cause, fix};
}

bool Share(double value) { return value >= 0.0 && value < 1.0; }

Expected<Done> CheckOptions(const StepOptions& options) {
  const OptimizerOptions& optimizer = options.optimizer;
  if (!Share(optimizer.beta1) || !Share(optimizer.beta2) ||
      !Share(optimizer.momentum) || !(optimizer.epsilon > 0.0) ||
      !(optimizer.weight_decay >= 0.0)) {
    return Misuse(
        "an optimizer with impossible settings",
        "give betas and a momentum in [0, 1), an epsilon above 0, no negative "
        "decay");
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

bool Decays(const ParameterSpec& spec, const StepOptions& options) {
  if (!options.no_decay) return spec.decays();
  return std::ranges::none_of(*options.no_decay, [&](const std::string& part) {
    return spec.name.find(part) != std::string::npos;
  });
}

// What the optimizer moves: a rate of 0 throughout needs no moments. Those of
// `before` go on where they were.
std::vector<TrainedTensor> Trained(const Model& model, const FreezePlan& plan,
                                   const std::vector<at::Tensor>& rates,
                                   const StepOptions& options,
                                   const std::vector<TrainedTensor>& before) {
  std::map<std::string, TrainedTensor> known;
  for (const TrainedTensor& each : before) known.emplace(each.name, each);
  std::vector<TrainedTensor> trained;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].trains()) continue;
    const Weight& parameter = model.weights()[i];
    TrainedTensor each = known[parameter.spec.name];
    each.name = parameter.spec.name;
    each.value = parameter.value;
    each.rate = plan.parameters[i].rate;
    each.slice_rates = rates[i];
    each.decays = Decays(parameter.spec, options);
    trained.push_back(std::move(each));
  }
  return trained;
}

}  // namespace

Expected<Stepper> Stepper::Make(Model& model, const FreezePlan& plan,
                                const StepOptions& options) {
  Expected<Done> sensible = CheckOptions(options);
  if (!sensible.ok()) return sensible.fault();
  return CatchTorch([&]() -> Expected<Stepper> {
    Stepper stepper(model, options);
    Expected<Done> planned = stepper.Replan(plan);
    if (!planned.ok()) return planned.fault();
    return stepper;
  });
}

Stepper::Stepper(Model& model, const StepOptions& options)
    : model_(&model),
      options_(options),
      optimizer_(options.optimizer, {}),
      chance_(MakeGenerator(model.device(), options.seed)),
      kernels_(options.kernels.value_or(KernelsFor(model.device()))) {}

Expected<Done> Stepper::Replan(const FreezePlan& plan) {
  if (plan.parameters.size() != model_->weights().size()) {
    return Misuse("a freeze plan of another model",
                  "make the plan from this model's configuration");
  }
  return CatchTorch([&]() -> Expected<Done> {
    std::vector<at::Tensor> rates;
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
      const at::Tensor slices =
          SliceRates(model_->weights()[i].spec, plan.parameters[i]);
      rates.push_back(slices.defined() ? slices.to(model_->device()) : slices);
    }
    ApplyPlan(plan, *model_);
    model_->Prepare(kernels_, options_.precision == Precision::kBf16);
    optimizer_ = Optimizer(
        options_.optimizer,
        Trained(*model_, plan, rates, options_, optimizer_.tensors()));
    slice_rates_ = std::move(rates);
    plan_ = plan;
    return Done{};
  });
}

Expected<StepResult> Stepper::Step(std::span<const Batch> parts) {
  Expected<std::optional<StepResult>> before = ReadLast();
  if (!before.ok()) return before.fault();
  Expected<std::optional<StepResult>> taken = StepAhead(parts);
  if (!taken.ok()) return taken.fault();
  if (!taken.value()) taken = ReadLast();
  if (!taken.ok()) return taken.fault();
  return *taken.value();
}

Expected<std::optional<StepResult>> Stepper::StepAhead(
    std::span<const Batch> parts) {
  return CatchTorch([&]() -> Expected<std::optional<StepResult>> {
    std::vector<std::int64_t> labels;
    for (const Batch& part : parts) {
      Expected<Done> right = model_->Check(part);
      if (!right.ok()) return right.fault();
      labels.push_back(part.labels.defined() ? CountLabels(part.labels) : 0);
    }
    if (std::accumulate(labels.begin(), labels.end(), std::int64_t{0}) == 0) {
      return Misuse("a step without a single label",
                    "leave out texts whose tokens are all unlabelled");
    }
    std::optional<Unread> before = std::move(unread_);
    unread_.emplace(StepOrThrow(parts, labels));
    if (!kernels_.late_figures) return ReadLast();
    if (!before) return std::optional<StepResult>();
    return std::optional(ReadOrThrow(*before));
  });
}

Expected<std::optional<StepResult>> Stepper::ReadLast() {
  return CatchTorch([&]() -> Expected<std::optional<StepResult>> {
    if (!unread_) return std::optional<StepResult>();
    const std::optional<Unread> last = std::exchange(unread_, std::nullopt);
    return std::optional(ReadOrThrow(*last));
  });
}

Stepper::Unread Stepper::StepOrThrow(std::span<const Batch> parts,
                                     const std::vector<std::int64_t>& labels) {
  const auto all = static_cast<double>(
      std::accumulate(labels.begin(), labels.end(), std::int64_t{0}));
  std::vector<at::Tensor> figures;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (labels[i] == 0) continue;  // a mean over nothing would be NaN
    const at::Tensor loss =
        LossOfPart(parts[i], static_cast<double>(labels[i]) / all);  // []
    figures.push_back(loss.detach());
    if (loss.requires_grad()) loss.backward();
  }
  MaskFrozenHeads(plan_, slice_rates_, *model_);
  const std::vector<at::Tensor> gradients = Gradients();
  const std::size_t losses = figures.size();
  if (!gradients.empty()) figures.push_back(GlobalNorm(gradients));
  const at::Tensor together = at::stack(figures).to(at::kDouble);
  StepResult result;
  result.factor = options_.schedule.FactorAt(steps_);
  result.step = ++steps_;
  if (!gradients.empty()) {
    optimizer_.Step(
        result.factor,
        CheckGradients(figures.back(), options_.clip_norm, together));
  }
  for (Weight& each : model_->weights()) {
    each.value.mutable_grad().reset();
  }
  return {LateNumbers(together), losses, result};
}

StepResult Stepper::ReadOrThrow(const Unread& unread) {
  StepResult result = unread.result;
  const std::vector<double> figures = unread.figures.Read();  // waits
  for (std::size_t i = 0; i < unread.losses; ++i) result.loss += figures[i];
  if (figures.size() > unread.losses) result.grad_norm = figures.back();
  result.finite = std::isfinite(result.loss) && std::isfinite(result.grad_norm);
  return result;
}

at::Tensor Stepper::LossOfPart(const Batch& part, double share) {
  const Batch batch =
      MoveTo(PadTo(kernels_.pad_to, part, model_->config()), model_->device());
  const Autocast autocast(options_.precision, model_->device());
  const at::Tensor logits =
      model_->Forward(batch, TrainingPass(plan_, &chance_));
  return LossOf(model_->head().spec(), logits, batch.labels,
                options_.label_smoothing) *
         share;
}

std::vector<at::Tensor> Stepper::Gradients() const {
  std::vector<at::Tensor> gradients;
  for (const Weight& each : model_->weights()) {
    if (each.value.grad().defined()) gradients.push_back(each.value.grad());
  }
  return gradients;
}

Expected<Prediction> Stepper::Predict(const Batch& batch) const {
  return CatchTorch([&]() -> Expected<Prediction> {
    Expected<Done> right = model_->Check(batch);
    if (!right.ok()) return right.fault();
    const at::NoGradGuard no_graph;
    Prediction prediction;
    if (batch.labels.defined()) prediction.labels = CountLabels(batch.labels);
    const Batch here = MoveTo(PadTo(kernels_.pad_to, batch, model_->config()),
                              model_->device());
    const Autocast autocast(options_.precision, model_->device());
    Pass pass;
    pass.frozen_blocks = plan_.frozen_blocks;  // where a boundary belongs
    const at::Tensor logits = model_->Forward(here, pass);
    prediction.logits = logits.to(at::kCPU);
    if (logits.dim() == 3) {  // of tokens: not of what was padded here
      prediction.logits = prediction.logits.narrow(1, 0, batch.ids.size(1));
    }
    if (prediction.labels > 0) {
      // Where the logits are now: a GPU has been waited for once.
      prediction.loss =
          LossOf(model_->head().spec(), prediction.logits, batch.labels, 0.0)
              .item<double>();
    }
    return prediction;
  });
}

void Stepper::Resume(std::int64_t steps, const at::Tensor& chance) {
  steps_ = steps;
  chance_.set_state(chance);
}

}  // namespace frostline::trainer
