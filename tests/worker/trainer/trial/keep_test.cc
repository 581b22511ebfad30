// SPDX-License-Identifier: Apache-2.0
//
// Which evaluation a trial hands over: metrics, weights, outcomes, other sets.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "tests/worker/trainer/trial/trial_world.h"

namespace frostline::trainer {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;

// It learns by heart: the loss of other rows rises from the third epoch on.
constexpr char kSteep[] = R"("embeddings": 0, "layer.0": 3e-3,
    "layer.1": 3e-3, "layer.2": 3e-3, "pooler": 3e-3, "head": 3e-2)";

TrialMessage Steep(const TrialWorld& world, const std::string& training) {
  TrialMessage trial =
      world.Trial(training + R"("epochs": 8, "schedule": "constant",
                    "report_example_outcomes": true,
                    "also_evaluate": ["words"], "extra": {"export": true},)",
                  kSteep);
  trial.objectives = {{"loss", false}};
  return trial;
}

const Told& Best(const Witness& witness) {
  return *std::ranges::min_element(witness.reports, {}, [](const Told& told) {
    return told.metrics.at("loss");
  });
}

// The first of a few seeds whose run is one that the test is about.
template <typename Condition>
TrialEnd RunUntil(TrialWorld& world, TrialMessage& trial,
                  const Condition& is_about) {
  for (trial.seed = 1; trial.seed < 20; ++trial.seed) {
    world.witness = Witness();
    TrialEnd end = world.Run(trial);
    if (is_about(end)) return end;
  }
  ADD_FAILURE() << "no seed gives such a run";
  return {};
}

std::string Weights(const TrialWorld& world) {
  std::ifstream file(world.folder() + "/model/model.safetensors",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Metrics ScoredKept(TrialEnd end) {
  end.metrics.erase("train_seconds");
  return end.metrics;
}

TEST(Keep, TheBestEvaluationIsHandedOverWithItsWeights) {
  TrialWorld world;
  const TrialEnd end = world.Run(Steep(world, ""));
  const Told& best = Best(world.witness);
  ASSERT_LT(best.step, world.witness.reports.back().step);
  for (const auto& [name, value] : best.metrics) {
    EXPECT_EQ(end.metrics.at(name), value) << name;
  }
  EXPECT_EQ(end.metrics.at("kept_step"), static_cast<double>(best.step));
  EXPECT_EQ(end.metrics.at("steps"), 24);
  // The same rows, evaluated at the end, with the weights that are there then.
  EXPECT_EQ(end.metrics.at("words.loss"), best.metrics.at("loss"));
  EXPECT_THAT(world.witness.log, HasSubstr("is the best by loss"));
}

// What training alone up to the best step would have left.
TEST(Keep, TheExportIsOfTheBestEvaluation) {
  TrialWorld world;
  const TrialMessage whole = Steep(world, "");
  world.Run(whole);
  const std::string kept = Weights(world);
  const std::int64_t step = Best(world.witness).step;
  Witness again;
  world.Run(Steep(world, "\"max_steps\": " + std::to_string(step) + ","),
            again);
  ASSERT_EQ(again.reports.back().step, step);
  EXPECT_EQ(kept, Weights(world));
}

TEST(Keep, OutcomesAreThoseOfTheBestEvaluation) {
  TrialWorld world;
  TrialMessage trial = Steep(world, "");
  const TrialEnd end = RunUntil(world, trial, [&](const TrialEnd&) {
    return Best(world.witness).metrics.at("accuracy") !=
           world.witness.reports.back().metrics.at("accuracy");
  });
  ASSERT_FALSE(end.evaluations.empty());
  int right = 0;
  for (const char byte : end.evaluations[0].bytes) {
    right += __builtin_popcount(static_cast<unsigned char>(byte));
  }
  EXPECT_DOUBLE_EQ(end.metrics.at("accuracy"), right / 10.0);
}

TEST(Keep, LastHandsOverTheLast) {
  TrialWorld world;
  const TrialEnd end = world.Run(Steep(world, R"("keep": "last",)"));
  const Told& last = world.witness.reports.back();
  EXPECT_EQ(end.metrics.at("loss"), last.metrics.at("loss"));
  EXPECT_EQ(end.metrics.at("words.loss"), last.metrics.at("loss"));
  EXPECT_EQ(end.metrics.at("kept_step"), 24);
}

TEST(Keep, EarlyStoppingHandsOverWhatItWaitedFor) {
  TrialWorld world;
  const TrialEnd end = world.Run(
      Steep(world, R"("early_stopping": {"metric": "loss", "patience": 2},)"));
  const Told& best = Best(world.witness);
  ASSERT_EQ(world.witness.reports.back().step, best.step + 2 * 3);
  EXPECT_EQ(end.metrics.at("loss"), best.metrics.at("loss"));
}

// An objective of another set, or of none, is kept by what evaluations have.
TEST(Keep, ATestObjectiveIsKeptByItsValidationMetric) {
  TrialWorld world;
  TrialMessage trial = Steep(world, "");
  trial.objectives = {{"train_seconds", false}, {"words.loss", false}};
  const TrialEnd end = world.Run(trial);
  EXPECT_EQ(end.metrics.at("loss"), Best(world.witness).metrics.at("loss"));
}

TEST(Keep, GoesOnAfterAnyStopToTheSameBits) {
  TrialWorld world;
  TrialMessage whole = Steep(world, R"("unfreeze_every_steps": 3,)");
  const TrialEnd straight = RunUntil(world, whole, [](const TrialEnd& end) {
    return end.metrics.at("kept_step") < 18;
  });
  const Metrics expected = ScoredKept(straight);
  const std::string weights = Weights(world);
  int carried = 0;
  for (int asked = 2; asked < 70; ++asked) {
    Witness first;
    first.StopAfter(asked, StopReason::kPreempt);
    if (world.Run(whole, first).state != TrialState::kStopped) break;
    if (first.checkpoint.empty()) continue;
    if (static_cast<double>(first.checkpoint_step) > expected.at("kept_step")) {
      ++carried;
    }
    TrialMessage rest = whole;
    rest.resume_path = world.folder() + "/" + first.checkpoint;
    rest.resume_step = first.checkpoint_step;
    Witness second;
    const TrialEnd end = world.Run(rest, second);
    ASSERT_THAT(second.log, HasSubstr("goes on from step"));
    ASSERT_EQ(ScoredKept(end), expected) << "stopped after " << asked;
    ASSERT_EQ(end.evaluations[0].bytes, straight.evaluations[0].bytes);
    ASSERT_EQ(Weights(world), weights);
  }
  EXPECT_GT(carried, 3);
}

TEST(Keep, WhatWasPrunedSaysWhatItMeasuredLast) {
  TrialWorld world;
  world.witness.StopAfter(30, StopReason::kPruned);
  const TrialEnd end = world.Run(Steep(world, ""));
  ASSERT_EQ(end.state, TrialState::kStopped);
  EXPECT_EQ(end.metrics.at("loss"),
            world.witness.reports.back().metrics.at("loss"));
  EXPECT_THAT(end.metrics, Not(Contains(Key("kept_step"))));
}

}  // namespace
}  // namespace frostline::trainer
