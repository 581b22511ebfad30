// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/our_steps.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "tests/bench/step/must.h"
#include "worker/trainer/freeze/flops.h"
#include "worker/trainer/train/audit.h"

namespace frostline::bench {
namespace {

using namespace frostline::trainer;

const HeadSpec kTwoClasses = {.task = Task::kSequence, .outputs = 2};

FreezePlan PlanOf(const Shape& shape, const Freeze& freeze) {
  const bool any = freeze.how != Frozen::kNothing;
  ModuleRates rates = {
      {"embeddings", any ? 0.0 : kRate}, {"pooler", kRate}, {"head", kRate}};
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    rates["layer." + std::to_string(i)] = any && i < freeze.k ? 0.0 : kRate;
  }
  FreezeSemantics semantics = {FreezeMode::kHard, PrefixDropout::kHf};
  if (freeze.how == Frozen::kLr0) semantics.mode = FreezeMode::kLr0;
  if (freeze.how == Frozen::kCached) {
    semantics.prefix_dropout = PrefixDropout::kOff;
  }
  return Must(MakeFreezePlan(ConfigOf(shape), kTwoClasses, rates, semantics));
}

}  // namespace

ModelConfig ConfigOf(const Shape& shape) {
  ModelConfig config;
  config.vocabulary = shape.vocabulary;
  config.hidden = shape.hidden;
  config.layers = shape.layers;
  config.heads = shape.heads;
  config.feed_forward = shape.wide();
  config.positions = shape.positions;
  config.types = 2;
  config.hidden_dropout = shape.dropout;
  config.attention_dropout = shape.dropout;
  config.sequence_dropout = shape.dropout;
  return config;
}

std::vector<at::Tensor> DrawnWeights(const Shape& shape) {
  const ModelConfig config = ConfigOf(shape);
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(kSeed);
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec : ParametersOf(config, kTwoClasses)) {
    values.push_back(DrawWeight(spec, config, chance));
  }
  return values;
}

std::vector<std::string> NamesOfWeights(const Shape& shape) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : ParametersOf(ConfigOf(shape), kTwoClasses)) {
    names.push_back(spec.name);
  }
  return names;
}

Batch DrawnBatch(const Shape& shape) {
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(kSeed);
  Batch batch;
  batch.ids = at::randint(1, shape.vocabulary, {shape.texts, shape.tokens},
                          chance, at::TensorOptions(at::kLong));
  batch.mask = at::ones({shape.texts, shape.tokens}, at::kLong);
  batch.types = at::zeros({shape.texts, shape.tokens}, at::kLong);
  batch.labels =
      at::randint(0, 2, {shape.texts}, chance, at::TensorOptions(at::kLong));
  batch.noise = at::arange(shape.texts, at::TensorOptions(at::kLong));
  batch.lengths = at::full({shape.texts}, shape.tokens, at::kLong);
  return batch;
}

OurSteps::OurSteps(const Shape& shape, Precision precision)
    : shape_(shape),
      model_(ConfigOf(shape), kTwoClasses, DrawnWeights(shape)),
      before_(ConfigOf(shape), kTwoClasses, DrawnWeights(shape)),
      batch_(DrawnBatch(shape)),
      texts_(shape),
      precision_(precision) {
  StepOptions options;
  options.optimizer.weight_decay = kDecay;
  options.schedule.kind = ScheduleKind::kConstant;
  options.schedule.total_steps = 1 << 20;
  options.precision = precision;
  stepper_.emplace(
      Must(Stepper::Make(model_, PlanOf(shape_, Freeze{}), options)));
}

void OurSteps::Take(const Freeze& freeze) {
  Must(stepper_->Replan(PlanOf(shape_, freeze)));
  shares_ = freeze.how == Frozen::kCached;
  batch_.boundary = at::Tensor();
  if (shares_) texts_.Fill(model_, 1 + freeze.k, precision_);
}

void OurSteps::Step() {
  if (shares_) batch_.boundary = texts_.Boundary();
  Must(stepper_->Step({&batch_, 1}));
}

void OurSteps::Evaluate() {
  if (shares_) batch_.boundary = texts_.Boundary();
  Must(stepper_->Predict(batch_));
}

void OurSteps::Audit() {
  if (shares_) batch_.boundary = texts_.Boundary();
  const trainer::FreezePlan& plan = stepper_->plan();
  std::vector<bool> trains;
  trainer::ModuleRates rates;
  for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
    trains.push_back(plan.parameters[i].trains());
    rates[trainer::ModuleOf(model_.weights()[i].spec)] =
        plan.parameters[i].rate;
  }
  const trainer::FreezeAuditor auditor(model_, trains);
  const trainer::FreezeAudit audit = auditor.Audit(
      {.stepper = *stepper_,
       .before = before_,
       .rates = rates,
       .plan = plan,
       .activations = Must(trainer::MeasureActivations(*stepper_, batch_))});
  if (audit.wrong.empty()) return;
  std::cerr << "bench step: " << audit.wrong.front() << "\n";
  std::exit(1);
}

std::vector<double> OurSteps::Logits() const {
  const at::Tensor logits =
      Must(stepper_->Predict(batch_)).logits.flatten().to(at::kDouble);
  const double* numbers = logits.const_data_ptr<double>();
  return {numbers, numbers + logits.numel()};
}

double OurSteps::Flops() const {
  return CountFlops(model_.config(), kTwoClasses, stepper_->plan(),
                    shape_.texts, shape_.tokens)
      .spent();
}

}  // namespace frostline::bench
