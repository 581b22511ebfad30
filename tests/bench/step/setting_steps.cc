// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/step/setting_steps.h"

#include <ATen/ops/rand.h>

#include <memory>
#include <string>

#include "tests/bench/step/must.h"
#include "tests/bench/step/other_process.h"
#include "tests/bench/step/our_steps.h"
#include "worker/trainer/device/device.h"
#include "worker/trainer/train/smart.h"

namespace frostline::bench {
namespace {

using namespace frostline::trainer;

constexpr std::int64_t kPrefix = 4;  // layers

StepKind FrozenTo(std::int64_t layers) {
  StepKind kind;
  kind.frozen = layers;
  return kind;
}

StepKind Smoothed(StepKind kind, bool at_boundary) {
  kind.smart.weight = 1.0;
  kind.smart.at_boundary = at_boundary;
  return kind;
}

// Half of the texts are of each task.
StepKind TwoTasks(Surgery surgery) {
  StepKind kind;
  kind.heads = {{.task = Task::kSequence, .outputs = 2, .name = "one"},
                {.task = Task::kSequence, .outputs = 2, .name = "other"}};
  kind.surgery = surgery;
  return kind;
}

StepKind Headed(HeadKind head, bool of_numbers) {
  StepKind kind;
  kind.heads.front() = {
      .task = of_numbers ? Task::kRegression : Task::kSequence,
      .outputs = of_numbers ? 1 : 2,
      .kind = head};
  return kind;
}

void AddWhatTrainsLess(std::vector<Setting>& all) {
  StepKind lora;
  lora.lora = {.rank = 8, .alpha = 16.0};
  all.push_back({"lora", lora, {}});
  StepKind adapters;
  adapters.bottleneck = {.size = 64};
  all.push_back({"adapters", adapters, {}});
  StepKind biases;
  biases.tuned = Tuned::kBiases;
  all.push_back({"biases", biases, {}});
}

// Without a frozen prefix both ways to enter are the same.
void AddSmart(std::vector<Setting>& all) {
  const StepKind prefix = FrozenTo(kPrefix);
  all.push_back({"smart", Smoothed({}, false), {}});
  all.push_back({"smart_embeddings.k4", Smoothed(prefix, false), prefix});
  all.push_back({"smart_boundary.k4", Smoothed(prefix, true), prefix});
}

}  // namespace

std::vector<Setting> AllSettings() {
  std::vector<Setting> all;
  AddWhatTrainsLess(all);
  AddSmart(all);
  const StepKind two = TwoTasks(Surgery::kNone);
  all.push_back({"two_tasks", two, {}});
  all.push_back({"surgery_dominant", TwoTasks(Surgery::kDominant), two});
  all.push_back({"surgery_pcgrad", TwoTasks(Surgery::kPcGrad), two});
  all.push_back({"head_mlp", Headed(HeadKind::kMlp, false), {}});
  all.push_back(
      {"head_inner_product", Headed(HeadKind::kInnerProduct, true), {}});
  all.push_back({"head_cosine", Headed(HeadKind::kCosine, true), {}});
  all.push_back({"head_features", Headed(HeadKind::kFeatures, false), {}});
  StepKind weighed;
  weighed.class_weights = {1.0, 2.5};
  all.push_back({"class_weights", weighed, {}});
  StepKind reported;
  reported.reports = true;
  all.push_back({"report_every_step", reported, {}});
  StepKind halved;
  halved.precision = Precision::kFp16;
  all.push_back({"fp16", halved, {}});
  return all;
}

namespace {

enum SettingQuestion : std::int32_t { kSettingStep, kSettingFlops };

ModelConfig ConfigFor(const Shape& shape, const StepKind& kind) {
  ModelConfig config = ConfigOf(shape);
  config.lora = kind.lora;
  config.bottleneck = kind.bottleneck;
  return config;
}

Model Drawn(const Shape& shape, const StepKind& kind) {
  const ModelConfig config = ConfigFor(shape, kind);
  const Heads heads(kind.heads);
  at::Generator chance = at::make_generator<at::CPUGeneratorImpl>(kSeed);
  std::vector<at::Tensor> values;
  for (const ParameterSpec& spec : ParametersOf(config, heads)) {
    values.push_back(DrawWeight(spec, config, chance));
  }
  return Model(config, heads, values);
}

// Makes a task's batch, which has its share of the texts.
Batch BatchFor(const Shape& shape, const StepKind& kind, std::size_t task) {
  Shape own = shape;
  own.texts /= static_cast<std::int64_t>(kind.heads.size());
  Batch batch = DrawnBatch(own);
  batch.task = task;
  const HeadSpec& head = kind.heads[task];
  if (head.apart()) batch.labels = batch.labels.narrow(0, 0, own.texts / 2);
  if (head.task == Task::kRegression) {
    batch.labels = at::rand({batch.labels.size(0)});
  }
  return batch;
}

OtherProcess::Answer Begin(const Shape& shape, const StepKind& kind) {
  at::set_num_threads(1);
  KeepFreedMemory();  // as the trainer does
  auto side = std::make_shared<SettingSteps>(shape, kind);
  side->Step();  // the first one pays for memory
  return [side](const Question& question) -> std::vector<double> {
    if (question.what == kSettingFlops) return {side->Flops()};
    return {SecondsOfStep(*side)};
  };
}

}  // namespace

SettingSteps::SettingSteps(const Shape& shape, const StepKind& kind)
    : shape_(shape),
      kind_(kind),
      heads_(kind.heads),
      model_(Drawn(shape, kind)) {
  StepOptions options;
  options.optimizer.weight_decay = kDecay;
  options.schedule.kind = ScheduleKind::kConstant;
  options.schedule.total_steps = 1 << 20;
  options.precision = kind.precision;
  options.class_weights = kind.class_weights;
  options.smart = kind.smart;
  options.surgery = kind.surgery;
  if (heads_.size() > 1) options.tasks.resize(heads_.size());
  for (std::size_t task = 0; task < heads_.size(); ++task) {
    batches_.push_back(BatchFor(shape, kind, task));
  }
  stepper_.emplace(Must(Stepper::Make(model_, Plan(), options)));
}

// Adapters train in the place of the embeddings, too.
FreezePlan SettingSteps::Plan() const {
  const bool still = kind_.frozen >= 0 || model_.config().adapted();
  ModuleRates rates = {
      {"embeddings", still ? 0.0 : kRate}, {"pooler", kRate}, {"head", kRate}};
  for (std::int64_t i = 0; i < shape_.layers; ++i) {
    rates["layer." + std::to_string(i)] = i < kind_.frozen ? 0.0 : kRate;
  }
  return Must(
      MakeFreezePlan(model_.config(), heads_, rates,
                     {FreezeMode::kHard, PrefixDropout::kHf, kind_.tuned}));
}

void SettingSteps::Step() {
  StepNorms norms;
  Must(stepper_->StepAhead(batches_, kind_.reports ? &norms : nullptr));
  Must(stepper_->ReadLast());
}

double SettingSteps::Flops() const {
  const FreezePlan& plan = stepper_->plan();
  double flops = 0.0;
  for (const Batch& batch : batches_) {
    const std::int64_t texts = batch.ids.size(0);
    const StepFlops step = CountFlops(model_.config(), heads_, plan, texts,
                                      shape_.tokens, batch.task);
    flops += step.spent() + CountSmart(kind_.smart, model_.config(), heads_,
                                       plan.frozen_blocks, step, texts,
                                       shape_.tokens, batch.task)
                                .spent;
  }
  return flops;
}

void RunSettings(const Bench& bench, const Shape& shape) {
  for (const Setting& setting : AllSettings()) {
    OtherProcess with([&] { return Begin(shape, setting.with); });
    OtherProcess plain([&] { return Begin(shape, setting.plain); });
    std::vector<double> seconds;
    std::vector<double> plain_seconds;
    for (int i = 0; i < (bench.quick() ? 5 : 15); ++i) {
      seconds.push_back(with.Ask({kSettingStep, 0, 0}).at(0));
      plain_seconds.push_back(plain.Ask({kSettingStep, 0, 0}).at(0));
    }
    bench.Figure("step_ratio." + setting.name,
                 Median(seconds) / Median(plain_seconds));
    bench.Figure("flops_ratio." + setting.name,
                 with.Ask({kSettingFlops, 0, 0}).at(0) /
                     plain.Ask({kSettingFlops, 0, 0}).at(0));
  }
}

}  // namespace frostline::bench
