// SPDX-License-Identifier: Apache-2.0
//
// File: setting_steps.h
//
// What else a study may say of a step, each beside the step that it is compared
// with: of the same texts and tokens.
#ifndef FROSTLINE_TESTS_BENCH_STEP_SETTING_STEPS_H_
#define FROSTLINE_TESTS_BENCH_STEP_SETTING_STEPS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/step/shape.h"
#include "worker/trainer/device/precision.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/smart.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::bench {

// As it is, a full step with the family's own head of two classes.
struct StepKind {
  // One, or one with a name for each task, which share the texts of a batch.
  std::vector<trainer::HeadSpec> heads = {
      {.task = trainer::Task::kSequence, .outputs = 2}};
  std::int64_t frozen = -1;  // layers, the embeddings with them; -1: nothing
  trainer::LoraSpec lora = {};
  trainer::BottleneckSpec bottleneck = {};
  trainer::Tuned tuned = trainer::Tuned::kAll;
  trainer::SmartOptions smart = {};
  trainer::Surgery surgery = trainer::Surgery::kNone;
  std::vector<double> class_weights = {};
  bool reports = false;  // each step
  trainer::Precision precision = trainer::Precision::kFp32;
};

struct Setting {
  std::string name;  // in the keys
  StepKind with;
  StepKind plain;
};

std::vector<Setting> AllSettings();

// Steps of one kind (setting_steps.h), and what the chapter `settings` measures
// of all.

// One thread uses it. Ends the program with a word when a step fails.
class SettingSteps {
 public:
  SettingSteps(const Shape& shape, const StepKind& kind);

  void Step();
  double Flops() const;  // of a step, by count

 private:
  trainer::FreezePlan Plan() const;

  const Shape shape_;
  const StepKind kind_;
  trainer::Heads heads_;
  trainer::Model model_;
  std::vector<trainer::Batch> batches_;  // by task
  std::optional<trainer::Stepper> stepper_;
};

// Each setting beside its plain step, which take turns, in two processes.
void RunSettings(const Bench& bench, const Shape& shape);

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_SETTING_STEPS_H_
