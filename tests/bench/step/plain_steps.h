// SPDX-License-Identifier: Apache-2.0
//
// File: plain_steps.h
//
// The same model as anybody would write it: modules of LibTorch, its attention,
// its dropout, and its fused AdamW. Its header keeps torch/torch.h, which costs
// half a minute, out of all other files.
#ifndef FROSTLINE_TESTS_BENCH_STEP_PLAIN_STEPS_H_
#define FROSTLINE_TESTS_BENCH_STEP_PLAIN_STEPS_H_

#include <memory>
#include <vector>

#include "tests/bench/step/shape.h"

namespace frostline::bench {

// One thread uses it. Throws what LibTorch throws.
class PlainSteps {
 public:
  explicit PlainSteps(const Shape& shape);
  ~PlainSteps();

  // kLr0 gives parameters a rate of 0, kHard takes their gradients away: what
  // `lr: 0` in a group and `requires_grad_(False)` do.
  void Take(const Freeze& freeze);
  void Step();
  // Without dropout.
  std::vector<double> Logits();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_PLAIN_STEPS_H_
