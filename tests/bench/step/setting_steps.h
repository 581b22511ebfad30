// SPDX-License-Identifier: Apache-2.0
//
// File: setting_steps.h
//
// Steps of one kind (settings.h), and what the chapter `settings` measures of
// all.
#ifndef FROSTLINE_TESTS_BENCH_STEP_SETTING_STEPS_H_
#define FROSTLINE_TESTS_BENCH_STEP_SETTING_STEPS_H_

#include <optional>
#include <vector>

#include "tests/bench/bench_main.h"
#include "tests/bench/step/settings.h"
#include "tests/bench/step/shape.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::bench {

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
