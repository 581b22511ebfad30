// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/train/stepper.h"

#include <ATen/ops/_foreach_mul.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "worker/trainer/device/device.h"
#include "worker/trainer/model/model.h"

namespace frostline::trainer {
namespace {

double ExamplesOf(const Batch& part, double weight) {
  return weight == 0.0 ? 0.0 : static_cast<double>(part.labels.size(0));
}

}  // namespace

std::vector<double> SharesOfParts(std::span<const Batch> parts,
                                  const std::vector<double>& weights,
                                  const std::vector<TaskOptions>& tasks,
                                  bool alike) {
  double all = 0.0;
  std::map<std::size_t, double> examples;
  std::map<std::size_t, double> labels;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double here = ExamplesOf(parts[i], weights[i]);
    all += here;
    examples[parts[i].task] += here;
    labels[parts[i].task] += weights[i];
  }
  std::vector<double> shares;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t task = parts[i].task;
    const double of_task = alike ? 1.0 : examples[task] / all;
    shares.push_back(weights[i] == 0.0 ? 0.0
                                       : tasks[task].loss_weight * of_task *
                                             weights[i] / labels[task]);
  }
  return shares;
}

void TaskSwitch::To(std::size_t task) {
  if (tasks_.empty()) return;
  if (tasks_[task].frozen.empty() && !switched_) return;
  switched_ = true;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    Weight& each = model_.weights()[i];
    const bool trains =
        plan_.parameters[i].needs_gradient &&
        std::ranges::none_of(tasks_[task].frozen,
                             [&](const std::string& module) {
                               return IsWithin(each.spec, module);
                             });
    each.value.set_requires_grad(trains);
  }
}

TaskSwitch::~TaskSwitch() {
  if (!switched_) return;
  for (std::size_t i = 0; i < plan_.parameters.size(); ++i) {
    model_.weights()[i].value.set_requires_grad(
        plan_.parameters[i].needs_gradient);
  }
}

void TaskGradients::Take(std::size_t task) {
  std::vector<at::Tensor>& into = taken_[task];
  into.resize(model_.weights().size());
  for (std::size_t i = 0; i < into.size(); ++i) {
    Weight& each = model_.weights()[i];
    if (each.spec.part == Part::kHead) continue;  // no other task has it
    at::Tensor& gradient = each.value.mutable_grad();
    if (!gradient.defined()) continue;
    into[i] = into[i].defined() ? into[i].add_(gradient) : gradient;
    gradient.reset();
  }
}

InnerProducts TaskGradients::Products() const {
  InnerProducts products;
  for (const auto& [task, mine] : taken_) {
    products.emplace_back();
    for (const auto& [other, theirs] : taken_) {
      double sum = 0.0;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        if (!mine[i].defined() || !theirs[i].defined()) continue;
        sum += (mine[i] * theirs[i]).sum(at::kDouble).item<double>();
      }
      products.back().push_back(sum);
    }
  }
  return products;
}

bool TaskGradients::Mix(Surgery surgery, const SurgeryChance& chance) {
  const at::NoGradGuard no_graph;
  const Mixture mixture = MixGradients(surgery, Products(), chance);
  std::size_t turn = 0;
  for (auto& [task, gradients] : taken_) {
    const double weight = mixture.weights[turn++];
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      at::Tensor& into = model_.weights()[i].value.mutable_grad();
      at::Tensor mine = weight == 1.0 ? gradients[i] : gradients[i] * weight;
      into = into.defined() ? into + mine : mine;
    }
  }
  return mixture.conflict;
}

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
  if (!std::ranges::all_of(options.class_weights, [](double weight) {
        return std::isfinite(weight) && weight > 0.0;
      })) {
    return Misuse("a class weight that is not above 0", "give numbers above 0");
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

// Returns what the optimizer moves. Weights that do not train need no moments.
// Moments of `before` go on.
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
    each.rate = plan.parameters[i].fastest();
    each.slice_rates = rates[i];
    each.decays = Decays(parameter.spec, options);
    trained.push_back(std::move(each));
  }
  return trained;
}

}  // namespace

Expected<Stepper> Stepper::Make(Model& model, const FreezePlan& plan,
                                const StepOptions& options) {
  RETURN_IF_FAULT(CheckOptions(options));
  const auto outputs = static_cast<std::size_t>(model.head().spec().outputs);
  if (!options.class_weights.empty() &&
      options.class_weights.size() != outputs) {
    return Misuse("class weights for another number of classes",
                  "give one for each class");
  }
  return CatchTorch([&]() -> Expected<Stepper> {
    Stepper stepper(model, options);
    RETURN_IF_FAULT(stepper.Replan(plan));
    return stepper;
  });
}

Stepper::Stepper(Model& model, const StepOptions& options)
    : model_(&model),
      options_(options),
      optimizer_(options.optimizer, {}),
      kernels_(options.kernels.value_or(KernelsFor(model.device()))) {
  if (options.precision == Precision::kFp16) {
    loss_scale_.emplace(options.loss_scale);
    kernels_.late_figures = false;  // they say whether the step is taken
  }
  if (options.smart.any()) smart_.emplace(options.smart);
  if (options.class_weights.empty()) return;
  class_weights_ = at::tensor(options.class_weights, at::kDouble);
  class_weights_here_ = class_weights_.to(model.device(), at::kFloat);
}

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
    if (smart_) smart_->Follow(*model_, plan);
    model_->Prepare(kernels_, HalfOf(options_.precision));
    optimizer_ = Optimizer(
        options_.optimizer,
        Trained(*model_, plan, rates, options_, optimizer_.tensors()));
    slice_rates_ = std::move(rates);
    plan_ = plan;
    return Done{};
  });
}

Expected<StepResult> Stepper::Step(std::span<const Batch> parts) {
  RETURN_IF_FAULT(ReadLast());
  Expected<std::optional<StepResult>> taken = StepAhead(parts);
  if (!taken.ok()) return taken.fault();
  if (!taken.value()) taken = ReadLast();
  if (!taken.ok()) return taken.fault();
  return *taken.value();
}

Expected<std::vector<double>> Stepper::WeighParts(
    std::span<const Batch> parts) const {
  std::vector<double> weights;
  for (const Batch& part : parts) {
    RETURN_IF_FAULT(model_->Check(part));
    weights.push_back(
        part.labels.defined() ? WeighLabels(part.labels, class_weights_) : 0.0);
  }
  if (std::accumulate(weights.begin(), weights.end(), 0.0) == 0.0) {
    return Misuse("a step without a single label",
                  "leave out texts whose tokens are all unlabelled");
  }
  return weights;
}

Expected<std::vector<at::Tensor>> Stepper::Probe(std::span<const Batch> parts) {
  return CatchTorch([&]() -> Expected<std::vector<at::Tensor>> {
    ASSIGN_OR_FAULT(const std::vector<double> weights, WeighParts(parts));
    std::vector<at::Tensor> losses;
    adversary_ = at::Tensor();
    Backward(parts, weights, losses);
    MaskFrozenHeads(plan_, slice_rates_, *model_);
    std::vector<at::Tensor> gradients;
    for (Weight& each : model_->weights()) {
      at::Tensor& gradient = each.value.mutable_grad();
      if (loss_scale_ && gradient.defined()) {
        gradient.mul_(1.0 / loss_scale_->value());
      }
      gradients.push_back(gradient);
      gradient.reset();
    }
    return gradients;
  });
}

Expected<std::optional<StepResult>> Stepper::StepAhead(
    std::span<const Batch> parts, StepNorms* norms, bool gradients_alone) {
  return CatchTorch([&]() -> Expected<std::optional<StepResult>> {
    ASSIGN_OR_FAULT(const std::vector<double> weights, WeighParts(parts));
    std::optional<Unread> before = std::move(unread_);
    unread_.emplace(StepOrThrow(parts, weights, norms, gradients_alone));
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

bool Stepper::Backward(std::span<const Batch> parts,
                       const std::vector<double>& weights,
                       std::vector<at::Tensor>& losses) {
  std::vector<double> shares = weights;
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& share : shares) share /= all;
  if (!options_.tasks.empty()) {
    shares =
        SharesOfParts(parts, weights, options_.tasks, options_.tasks_alike);
  }
  const bool operates = options_.surgery != Surgery::kNone;
  TaskSwitch trains(*model_, plan_, options_.tasks);
  TaskGradients apart(*model_);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (weights[i] == 0.0) continue;  // a mean over nothing would be NaN
    trains.To(parts[i].task);
    const at::Tensor loss = LossOfPart(parts[i], shares[i]);  // []
    losses.push_back(loss.detach());
    if (loss.requires_grad()) {
      (loss_scale_ ? loss * loss_scale_->value() : loss).backward();
    }
    if (operates) apart.Take(parts[i].task);
  }
  return operates &&
         apart.Mix(options_.surgery,
                   {options_.surgery_seed, static_cast<std::uint64_t>(steps_)});
}

Stepper::Unread Stepper::StepOrThrow(std::span<const Batch> parts,
                                     const std::vector<double>& weights,
                                     StepNorms* norms, bool gradients_alone) {
  std::vector<at::Tensor> figures;
  adversary_ = at::Tensor();
  const bool conflict = Backward(parts, weights, figures);
  MaskFrozenHeads(plan_, slice_rates_, *model_);
  const std::vector<at::Tensor> gradients = Gradients();
  if (loss_scale_ && !gradients.empty()) {
    at::_foreach_mul_(gradients, 1.0 / loss_scale_->value());
  }
  const std::size_t losses = figures.size();
  if (!gradients.empty()) figures.push_back(GlobalNorm(gradients));
  const at::Tensor norm = figures.back();
  if (adversary_.defined()) figures.push_back(adversary_);
  const at::Tensor together = at::stack(figures).to(at::kDouble);
  StepResult result;
  result.conflict = conflict;
  result.factor = options_.schedule.FactorAt(
      steps_ - (loss_scale_ ? loss_scale_->skipped() : 0));
  NormProbe probe(*model_);
  if (norms != nullptr) probe.NoteGradients(!gradients_alone);
  result.step = ++steps_;
  if (!gradients.empty() && Moves(together, losses, result)) {
    optimizer_.Step(result.factor,
                    CheckGradients(norm, options_.clip_norm, together));
  }
  if (smart_) smart_->NoteStep(steps_, options_.schedule.total_steps);
  if (norms != nullptr) *norms = probe.Measure();
  for (Weight& each : model_->weights()) {
    each.value.mutable_grad().reset();
  }
  return {LateNumbers(together), losses, gradients.empty() ? 0U : 1U, result};
}

StepResult Stepper::ReadOrThrow(const Unread& unread) {
  StepResult result = unread.result;
  const std::vector<double> figures = unread.figures.Read();  // waits
  for (std::size_t i = 0; i < unread.losses; ++i) result.loss += figures[i];
  if (unread.gradients > 0) result.grad_norm = figures[unread.losses];
  result.finite = std::isfinite(result.loss) &&
                  (result.skipped || std::isfinite(result.grad_norm));
  const bool smart = figures.size() > unread.losses + unread.gradients;
  result.adversary_finite = !smart || std::isfinite(figures.back());
  return result;
}

// Returns whether the step may move weights. In fp16 it waits for the GPU,
// because a skipped step must count nowhere. A loss that is not finite is no
// fault of the scale, so the scale is not judged by it.
bool Stepper::Moves(const at::Tensor& figures, std::size_t losses,
                    StepResult& result) {
  if (!loss_scale_) return true;
  const std::vector<double> read = LateNumbers(figures).Read();
  const auto norm = read.begin() + static_cast<std::ptrdiff_t>(losses);
  if (!std::ranges::all_of(read.begin(), norm,
                           [](double loss) { return std::isfinite(loss); })) {
    return false;
  }
  const LossScale::Verdict verdict = loss_scale_->Judge(std::isfinite(*norm));
  result.skipped = verdict == LossScale::Verdict::kSkip;
  return verdict == LossScale::Verdict::kMove;
}

at::Tensor Stepper::LossOfPart(const Batch& part, double share) {
  const Batch batch = OnDevice(part);
  const Autocast autocast(options_.precision, model_->device());
  const auto loss_of = [&](const at::Tensor& logits) {
    return LossOf(model_->head(part.task).spec(), logits, batch.labels,
                  options_.label_smoothing, class_weights_here_);
  };
  const Pass pass = TrainingPass(plan_);
  if (!smart_) return loss_of(model_->Forward(batch, pass)) * share;
  const SmartTerms terms = smart_->TermsOf(*model_, batch, pass);
  adversary_ =
      adversary_.defined() ? adversary_ + terms.gradient : terms.gradient;
  return (loss_of(terms.logits) + terms.added) * share;
}

std::vector<at::Tensor> Stepper::Gradients() const {
  std::vector<at::Tensor> gradients;
  for (const Weight& each : model_->weights()) {
    if (each.value.grad().defined()) gradients.push_back(each.value.grad());
  }
  return gradients;
}

Batch Stepper::OnDevice(const Batch& batch) const {
  return MoveTo(PadTo(kernels_.pad_to, batch, model_->config()),
                model_->device());
}

Expected<Prediction> Stepper::Predict(const Batch& batch) const {
  return CatchTorch([&]() -> Expected<Prediction> {
    RETURN_IF_FAULT(model_->Check(batch));
    const at::NoGradGuard no_graph;
    Prediction prediction;
    if (batch.labels.defined()) prediction.labels = CountLabels(batch.labels);
    const Batch here = OnDevice(batch);
    const Autocast autocast(options_.precision, model_->device());
    Pass pass;
    pass.frozen_blocks = plan_.frozen_blocks;  // where a boundary belongs
    const at::Tensor logits = model_->Forward(here, pass);
    prediction.logits = logits.to(at::kCPU);
    if (logits.dim() == 3) {  // of tokens: not of what was padded here
      prediction.logits = prediction.logits.narrow(1, 0, batch.ids.size(1));
    }
    if (prediction.labels > 0) {
      // On the CPU, where the logits are now, so that a GPU is waited for only
      // once.
      prediction.loss = LossOf(model_->head(batch.task).spec(),
                               prediction.logits, batch.labels, 0.0)
                            .item<double>();
    }
    return prediction;
  });
}

}  // namespace frostline::trainer
