// SPDX-License-Identifier: Apache-2.0
//
// File: settings.h
//
// What else a study may say of a step, each beside the step that it is compared
// with: of the same texts and tokens.
#ifndef FROSTLINE_TESTS_BENCH_STEP_SETTINGS_H_
#define FROSTLINE_TESTS_BENCH_STEP_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "worker/trainer/device/precision.h"
#include "worker/trainer/freeze/freeze_plan.h"
#include "worker/trainer/train/optimizer.h"
#include "worker/trainer/train/smart.h"

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

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_SETTINGS_H_
