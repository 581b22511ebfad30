// SPDX-License-Identifier: Apache-2.0
//
// File: our_steps.h
//
// The trainer's own step, from the pieces that a trial takes.
#ifndef FROSTLINE_TESTS_BENCH_STEP_OUR_STEPS_H_
#define FROSTLINE_TESTS_BENCH_STEP_OUR_STEPS_H_

#include <optional>
#include <vector>

#include "tests/bench/step/shape.h"
#include "tests/bench/step/shared_texts.h"
#include "worker/trainer/train/stepper.h"

namespace frostline::bench {

// BERT.
trainer::ModelConfig ConfigOf(const Shape& shape);

// Drawn weights of `shape` in the order of ParametersOf, always the same.
std::vector<at::Tensor> DrawnWeights(const Shape& shape);

std::vector<std::string> NamesOfWeights(const Shape& shape);

// A batch of drawn ids, a class for each text.
trainer::Batch DrawnBatch(const Shape& shape);

// One thread uses it. Ends the program with a word when a step fails.
class OurSteps {
 public:
  OurSteps(const Shape& shape, trainer::Precision precision);

  void Take(const Freeze& freeze);  // from the next step on
  void Step();
  // A batch of an evaluation.
  void Evaluate();
  // All that the audit of a trial does at its beginning and its end.
  void Audit();
  // Without dropout.
  std::vector<double> Logits() const;
  // Returns the operations of the present step.
  double Flops() const;

 private:
  Shape shape_;
  trainer::Model model_;
  trainer::Model before_;
  trainer::Batch batch_;
  SharedTexts texts_;
  trainer::Precision precision_;
  bool shares_ = false;
  std::optional<trainer::Stepper> stepper_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_OUR_STEPS_H_
