// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sampler/factory.h"
#include "tests/support/objectives.h"

namespace frostline::sampler {
namespace {

Space ParallelModules(int modules) {
  std::vector<Parameter> parameters;
  for (int i = 0; i < modules; ++i) {
    parameters.push_back(
        {"p" + std::to_string(i), Levels{{0, 1e-5, 1e-4}}, {}});
  }
  return Space(std::move(parameters), {}, std::nullopt);
}

std::int64_t Of(const std::string& sampler, const TrialCounts& trials,
                std::map<std::string, std::string> options = {}) {
  return UsefulParallelism({.name = sampler, .options = std::move(options)},
                           ParallelModules(13), kLoss, trials);
}

TEST(UsefulParallelism, BeginsWithWhatIsDrawnBlindAnyway) {
  EXPECT_EQ(Of("levels-gp", {.budget = 200}), 14);
  EXPECT_EQ(Of("tpe", {.budget = 200}), 10);
  EXPECT_EQ(Of("tpe", {.budget = 200}, {{"compat", "v5"}}), 10);
  EXPECT_EQ(Of("auto", {.budget = 200}), 14);
  EXPECT_EQ(Of("tpe", {.budget = 200}, {{"startup_trials", "40"}}), 40);
  EXPECT_EQ(Of("tpe", {.budget = 200}, {{"startup_trials", "0"}}), 1);
}

TEST(UsefulParallelism, GrowsWithResultsAndNotWithFailures) {
  EXPECT_EQ(Of("levels-gp", {.results = 100, .ended = 100, .budget = 500}), 50);
  EXPECT_EQ(Of("levels-gp", {.results = 0, .ended = 100, .budget = 500}), 14);
}

TEST(UsefulParallelism, IsNeverMoreThanIsLeft) {
  EXPECT_EQ(Of("levels-gp", {.results = 195, .ended = 195, .budget = 200}), 5);
  EXPECT_EQ(Of("random", {.results = 10, .ended = 10, .budget = 200}), 190);
  EXPECT_EQ(Of("random", {.results = 9, .ended = 9, .budget = 8}), 0);
  EXPECT_EQ(
      UsefulParallelism({.name = "brute", .options = {}}, ParallelModules(3),
                        kLoss, {.results = 7, .ended = 7, .budget = 99}),
      20);
}

TEST(UsefulParallelism, WhatNeverLooksAtResultsTakesAll) {
  for (const char* sampler : {"random", "qmc", "grid", "brute"}) {
    EXPECT_EQ(Of(sampler, {.budget = 100}), 100) << sampler;
  }
  EXPECT_EQ(
      UsefulParallelism(
          {.name = "levels-gp", .options = {}, .purpose = Purpose::kUnderstand},
          ParallelModules(13), kLoss, {.budget = 100}),
      100);
  EXPECT_EQ(UsefulParallelism(
                {.name = "tpe", .options = {}, .purpose = Purpose::kBoth},
                ParallelModules(13), kLoss, {.budget = 100}),
            10);
}

TEST(UsefulParallelism, GoesByWhatProposesWhereLevelsGpHandsOver) {
  EXPECT_EQ(UsefulParallelism({.name = "levels-gp", .options = {}},
                              ParallelModules(65), kLoss, {.budget = 100}),
            10);
}

}  // namespace
}  // namespace frostline::sampler
