// SPDX-License-Identifier: Apache-2.0
//
// File: whole_trials.h
//
// Trials from message to finish, as a trainer that has its model on the shelf
// runs them, in a registry of the benchmark's own.
#ifndef FROSTLINE_TESTS_BENCH_STEP_WHOLE_TRIALS_H_
#define FROSTLINE_TESTS_BENCH_STEP_WHOLE_TRIALS_H_

#include <cstdint>
#include <string>

#include "tests/bench/step/shape.h"
#include "tests/support/temp_folder.h"
#include "worker/trainer/trial/fine_tuning.h"

namespace frostline::bench {

// One thread uses it. Ends the program with a word when something fails.
class WholeTrials {
 public:
  // Writes a model of this shape and texts for a few batches. Loads nothing.
  explicit WholeTrials(const Shape& shape);

  // Trains the study's trial for so many steps, embeddings and `frozen` layers
  // at rate 0, or all where that is negative.
  trainer::TrialUsage Run(const std::string& study, std::int64_t steps,
                          std::int64_t frozen);

 private:
  std::string Message(const std::string& study, std::int64_t steps,
                      std::int64_t frozen) const;

  Shape shape_;
  TempFolder folder_;
  trainer::Device device_;
  std::optional<trainer::TrialPreparer> preparer_;
  std::optional<trainer::PrefixStore> store_;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_STEP_WHOLE_TRIALS_H_
